import { randomUUID } from 'node:crypto';

/** Tells this process apart from every other one, also from a later process that gets the same number. */
export const processMark = `${process.pid}-${randomUUID().slice(0, 8)}`;
