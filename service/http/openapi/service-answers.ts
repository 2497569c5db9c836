import { z } from 'zod';
import { Usage, time } from './answers';

/** What the service answers of itself, of builds and of usage, as its document tells it. */

const names = z.array(z.string());

const Agent = z
  .object({
    name: z.string(),
    description: z.string(),
    kind: z.enum(['chat', 'sequential', 'loop', 'parallel', 'team', 'hand-over', 'custom']),
    isExported: z.boolean(),
    model: z.string().optional(),
    tools: names,
    agents: names,
    middleware: names,
    policies: names,
    maxIterations: z.int().optional(),
  })
  .meta({ id: 'ServedAgent' });

const use = z
  .object({ atWork: z.int(), waiting: z.int(), lastMinute: z.int(), tokensLastMinute: z.int() })
  .optional()
  .meta({ description: 'What the calls of the worker in this process take. Other workers may take more.' });

const Tool = z
  .object({
    name: z.string(),
    description: z.string(),
    kind: z.enum(['worker', 'workflow', 'external']),
    effect: z.enum(['none', 'idempotent', 'once']).optional(),
    timeout: z.string().optional(),
    concurrency: z.int().optional(),
    use,
  })
  .meta({ id: 'ServedTool' });

export const ServiceFacts = z.object({
  version: z.string(),
  namespace: z.string(),
  tenant: z.string(),
  taskQueue: z.string(),
  server: z.object({ kind: z.enum(['embedded', 'configured']), address: z.string() }),
  hasWorker: z.boolean(),
  temporalUi: z.string().optional(),
  agents: z.array(Agent),
  tools: z.array(Tool),
  models: z.array(z.object({ name: z.string(), candidates: names, id: z.string().optional() })),
  limits: z.array(
    z.object({
      models: z.string(),
      concurrent: z.int().optional(),
      perMinute: z.int().optional(),
      tokensPerMinute: z.int().optional(),
      use,
    }),
  ),
  prices: z.record(z.string(), z.object({ input: z.number(), output: z.number(), cachedInput: z.number().optional() })),
  problems: z.array(z.object({ code: z.string(), message: z.string(), fix: z.string().optional() })),
});

export const RunCounts = z.object({
  running: z.int(),
  waiting: z.int(),
  idle: z.int(),
  completed: z.int(),
  failed: z.int(),
  cancelled: z.int(),
  since: time,
});

export const BuildList = z.object({
  taskQueue: z.string(),
  builds: z.array(
    z.object({
      id: z.string(),
      since: time.optional(),
      isNewest: z.boolean(),
      openRuns: z.int().optional(),
      polledAt: time.optional(),
      state: z.enum(['newest', 'draining', 'drained', 'unserved']),
    }),
  ),
});

const counted = {
  calls: z.int(),
  usage: Usage,
  usageByModel: z.record(z.string(), Usage),
  cost: z.object({ amount: z.number(), complete: z.boolean(), unpriced: names.optional() }).optional(),
};

export const UsageReport = z.object({
  by: z.enum(['agent', 'model', 'day']),
  since: time,
  until: time,
  rows: z.array(z.object({ key: z.string(), ...counted })),
  total: z.object(counted),
  counted: z.int(),
  left: z.int(),
  unreadable: z.int(),
  more: z.boolean(),
  uncounted: z.int(),
});
