import type { Hono } from 'hono';
import { defined } from '../../contract/defined';
import type { ServiceFacts } from '../../contract/service-facts';
import type { HoldfastClient } from '../../client/index';
import type { AppParts, ServiceHosting } from '../parts';
import type { AgentSummary } from '../project/load-project';
import { costOf } from '../../contract/prices';
import { agentsIn } from './asked-agent';
import { current } from './current';
import { packageVersion } from './package-version';
import { Routes, ok } from './routes';
import { CountsQuery, UsageQuery } from './schemas';

export function serviceRoutes(parts: AppParts): Hono {
  const service = ok('ServiceFacts', 'Version, place, agents, tools, models, limits and problems.');
  return new Routes('Service')
    .add('GET /service', { may: 'runs:read', summary: 'Says what the service is, and what it serves.', answers: service }, ({ client }) =>
      factsOf(parts, client),
    )
    .add(
      'GET /counts',
      {
        may: 'runs:read',
        summary: 'Counts runs by their status.',
        query: CountsQuery,
        answers: ok('RunCounts', 'The counts, at most five seconds old.'),
      },
      ({ query, client }) => client.counts(defined(query)),
    )
    .add(
      'GET /builds',
      {
        may: 'runs:read',
        summary: 'Lists builds, newest first.',
        answers: ok('BuildList', 'Which one new runs go to, which drain, and which nobody serves.'),
      },
      ({ client }) => client.builds(),
    )
    .add(
      'GET /usage',
      {
        may: 'runs:read',
        summary: 'Sums up the tokens and the cost of model calls.',
        query: UsageQuery,
        answers: ok('UsageReport', 'By agent, model or day, with what is not counted yet.'),
      },
      async ({ query, client }) => {
        const { rows, total, ...report } = await client.usage(defined(query));
        const prices = current(parts.prices) ?? {};
        const priced = <Row extends typeof total>(row: Row): Row => ({ ...row, ...defined({ cost: costOf(row, prices) }) });
        return { ...report, rows: rows.map(priced), total: priced(total) };
      },
    ).app;
}

function factsOf(parts: AppParts, client: HoldfastClient): ServiceFacts {
  const { server, hasWorker, temporalUi, project, problems }: ServiceHosting = parts.hosting ?? { server: 'configured', hasWorker: false };
  const { address, namespace, tenant, taskQueue } = client.place;
  return {
    version: packageVersion(),
    namespace,
    tenant,
    taskQueue,
    server: { kind: server, address },
    hasWorker,
    ...defined({ temporalUi }),
    ...(project?.() ?? { agents: agentsIn(parts).map(toldAgent), tools: [], models: [], limits: [] }),
    prices: current(parts.prices) ?? {},
    problems: problems?.() ?? [],
  };
}

function toldAgent({ name, description, tools = [] }: AgentSummary): ServiceFacts['agents'][number] {
  return { name, description, kind: 'chat', isExported: true, tools, agents: [], middleware: [], policies: [] };
}
