import { Hono } from 'hono';
import { defined } from '../../contract/defined';
import type { HoldfastClient } from '../../client/index';
import type { ProjectFacts, ServiceFacts, ServiceProblem } from '../../contract/service-facts';
import type { AgentSummary } from '../project/load-project';
import type { ModelPrices } from '../../contract/prices';
import { costOf } from '../../contract/prices';
import type { ServiceParts } from './app';
import { agentsIn } from './asked-agent';
import { parseQuery } from './parse-request';
import { pricesIn } from './prices-in';
import { CountsQuery, NoQuery, UsageQuery } from './schemas';

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
  return new Hono()
    .get('/service', (context) => {
      parseQuery(context, NoQuery);
      return context.json(factsOf(version, client, agentsIn(parts), pricesIn(parts), parts.hosting));
    })
    .get('/counts', async (context) => context.json(await client.counts(defined(parseQuery(context, CountsQuery)))))
    .get('/builds', async (context) => {
      parseQuery(context, NoQuery);
      return context.json(await client.builds());
    })
    .get('/usage', async (context) => {
      const { rows, total, ...report } = await client.usage(defined(parseQuery(context, UsageQuery)));
      const prices = pricesIn(parts);
      const priced = <Row extends typeof total>(row: Row): Row => ({ ...row, ...defined({ cost: costOf(row, prices) }) });
      return context.json({ ...report, rows: rows.map(priced), total: priced(total) });
    });
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
