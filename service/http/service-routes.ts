import type { Hono } from 'hono';
import { defined } from '../../contract/defined';
import type { HoldfastClient } from '../../client/index';
import type { ProjectFacts, ServiceFacts, ServiceProblem } from '../../contract/service-facts';
import type { AgentSummary } from '../project/load-project';
import type { ModelPrices } from '../../contract/prices';
import { costOf } from '../../contract/prices';
import type { ServiceParts } from './app';
import { agentsIn } from './asked-agent';
import { pricesIn } from './prices-in';
import { Routes, ok } from './routes';
import { CountsQuery, UsageQuery } from './schemas';

/** What the process around a service knows of it. */
export interface ServiceHosting {
  readonly server: ServiceFacts['server']['kind'];
  readonly hasWorker: boolean;
  /** The page of a run in Temporal's own web UI, with {workflowId} and maybe {namespace} to fill in. */
  readonly temporalUi?: string;
  /** What the project has now. */
  readonly project?: () => ProjectFacts;
  readonly problems?: () => readonly ServiceProblem[];
}

/** What the service is, what it serves, and what runs have used. */
export function serviceRoutes(parts: ServiceParts): Hono {
  const { client } = parts;
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- of this very package
  const { version } = require('holdfast/package.json') as { readonly version: string };
  const service = ok('ServiceFacts', 'Version, place, agents, tools, models, limits and problems.');
  return new Routes('Service')
    .add('GET /service', { summary: 'Says what the service is, and what it serves.', answers: service }, () =>
      factsOf(version, client, agentsIn(parts), pricesIn(parts), parts.hosting),
    )
    .add(
      'GET /counts',
      { summary: 'Counts runs by their status.', query: CountsQuery, answers: ok('RunCounts', 'The counts, at most five seconds old.') },
      ({ query }) => client.counts(defined(query)),
    )
    .add(
      'GET /builds',
      {
        summary: 'Lists builds, newest first.',
        answers: ok('BuildList', 'Which one new runs go to, which drain, and which nobody serves.'),
      },
      () => client.builds(),
    )
    .add(
      'GET /usage',
      {
        summary: 'Sums up the tokens and the cost of model calls.',
        query: UsageQuery,
        answers: ok('UsageReport', 'By agent, model or day, with what is not counted yet.'),
      },
      async ({ query }) => {
        const { rows, total, ...report } = await client.usage(defined(query));
        const prices = pricesIn(parts);
        const priced = <Row extends typeof total>(row: Row): Row => ({ ...row, ...defined({ cost: costOf(row, prices) }) });
        return { ...report, rows: rows.map(priced), total: priced(total) };
      },
    ).app;
}

function factsOf(
  version: string,
  { place }: Pick<HoldfastClient, 'place'>,
  agents: readonly AgentSummary[],
  prices: ModelPrices,
  hosting: ServiceHosting = { server: 'configured', hasWorker: false },
): ServiceFacts {
  const { server, hasWorker, temporalUi, project, problems } = hosting;
  const { address, namespace, tenant, taskQueue } = place;
  return {
    version,
    namespace,
    tenant,
    taskQueue,
    server: { kind: server, address },
    hasWorker,
    ...defined({ temporalUi }),
    ...(project?.() ?? { agents: agents.map(toldAgent), tools: [], models: [], limits: [] }),
    prices,
    problems: problems?.() ?? [],
  };
}

/** What is known of an agent without its project. */
function toldAgent({ name, description, tools = [] }: AgentSummary): ServiceFacts['agents'][number] {
  return { name, description, kind: 'chat', isExported: true, tools, agents: [], middleware: [], policies: [] };
}
