import { randomUUID } from 'node:crypto';

/** Unique for this process, although a later process may have an equal id. */
export const processMark = `${process.pid}-${randomUUID().slice(0, 8)}`;
