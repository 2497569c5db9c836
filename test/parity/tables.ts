import type { HoldfastClient } from '../../client/connect';
import type { Run } from '../../client/run';
import type { RunEvent } from '../../contract/plain/events';
import type { Json } from '../../contract/plain/messages';
import { names } from '../../contract/plain/names';
import type { Agent } from '../../kernel/agent';
import { isAgent } from '../../kernel/agent';
import { testRun } from '../../testing/index';
import type { Temporal } from '../support/temporal';
import * as agentsModule from './agents';
import { models } from './model';
import { standsLike } from './play';
import type { Script } from './script';
import type { Standing, Table } from './table';
import { openAfter } from './table';
import { halves, outputs, tools } from './tools';

type AnyAgent = Agent<string, Json, unknown>;
const agents = new Map<string, AnyAgent>(
  Object.values(agentsModule).flatMap((value) => (isAgent(value) ? [[value.name, value as AnyAgent] as const] : [])),
);

/** Longer than all sleeps of the agents, shorter than what people are given. */
const aWhile = '10m';

export async function tableInMemory({ agent, input, stream }: Script, id: string): Promise<Table> {
  const found = agents.get(agent);
  if (found === undefined) throw new Error(`There is no agent "${agent}".`);
  const run = await testRun(found, { id, input, stream, model: models, tools, outputs, middleware: halves });
  const log = async (): Promise<readonly RunEvent[]> => {
    const events: RunEvent[] = [];
    for await (const event of run.events({ until: 'waiting' })) events.push(event);
    return events;
  };
  return {
    async standing() {
      await log();
      await run.advance(aWhile);
      const events = await log();
      return { log: events, open: openAfter(events) };
    },
    view: () => run.view(),
    answer: (interruptId, answer, by) => run.resume(interruptId, answer, by === undefined ? {} : { by }),
    cancel: () => run.cancel(),
    border: () => run.goOnAsNew(),
    close: async () => undefined,
  };
}

/** How long nothing may come from a run on a server that has not come as far as in memory. */
const patienceMs = 45_000;

export async function tableOnServer(
  client: HoldfastClient,
  temporal: Temporal,
  { agent, input, stream }: Script,
  id: string,
): Promise<Table> {
  const run: Run = await client.start(agent, input, { id, stream });
  const log: RunEvent[] = [];
  const leaving = new AbortController();
  let wake: () => void = () => undefined;
  const following = (async () => {
    for await (const event of run.events({ deltas: false, signal: leaving.signal })) {
      log.push(event);
      wake();
    }
  })();
  following.catch(() => wake());
  return {
    async standing(like) {
      for (let known = -1, until = 0; ;) {
        if (log.length > known) [known, until] = [log.length, Date.now() + patienceMs];
        const standing: Standing = { log: [...log], open: openAfter(log) };
        if (like === undefined || standsLike(standing, like) || standing.log.at(-1)?.type === 'run-end' || Date.now() > until)
          return standing;
        await soon((resolve) => (wake = resolve), until);
      }
    },
    view: () => run.view(),
    answer: (interruptId, answer, by) => run.resume(interruptId, answer, by === undefined ? {} : { by }),
    cancel: () => run.cancel(),
    async border() {
      const before = await temporal.executionOf(id);
      await temporal.handle(id).signal(names.borderSignal);
      await temporal.untilAnotherExecution(id, before);
    },
    async close() {
      leaving.abort();
      await following;
    },
  };
}

/** Waits for what wakes, at most until then. */
async function soon(listen: (resolve: () => void) => void, until: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    listen(resolve);
    timer = setTimeout(resolve, Math.max(0, until - Date.now()));
  });
  clearTimeout(timer);
}
