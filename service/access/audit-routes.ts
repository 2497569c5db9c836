import type { Hono } from 'hono';
import { z } from 'zod';
import { listTime, timeOf } from '../../client/listing/list-options';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { Routes, ok } from '../http/routes';
import { count } from '../http/schemas';
import type { AccessParts } from './access';
import { lastEntries } from './audit';
import { callerOf } from './key-routes';

const AuditQuery = z.strictObject({ since: z.string().optional(), limit: count.pipe(z.number().min(1).max(1000)).optional() });
const usualLimit = 100;

export function auditRoutes({ audit }: Pick<AccessParts, 'audit'>): Hono {
  return new Routes('Service').add(
    'GET /',
    {
      may: 'audit:read',
      summary: 'Shows the last lines of the audit log of the tenant, the oldest first.',
      query: AuditQuery,
      answers: ok('AuditPage', 'The lines.'),
    },
    ({ query: { since, limit = usualLimit }, client }) =>
      lastEntries(audit.read({ tenant: callerOf(client).tenant, ...defined({ since: sinceOf(since) }) }), limit),
  ).app;
}

export function sinceOf(since: string | undefined): number | undefined {
  if (since === undefined) return undefined;
  const problem = listTime.problem(since, 'since');
  if (problem !== undefined) throw new HoldfastError('request-invalid', `${problem}.`);
  return timeOf(since, Date.now());
}
