import { randomUUID } from 'node:crypto';

/** A later process may have the same id. */
export const processMark = `${process.pid}-${randomUUID().slice(0, 8)}`;
