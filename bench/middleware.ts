import { defaultModelFacts } from '../activities/parts';
import { ModelRegistry } from '../activities/models/models';
import { OutputRegistry } from '../activities/schemas/outputs';
import { ToolRegistry, defaultToolFacts } from '../activities/tools/tools';
import type { WorkerMiddleware } from '../activities/worker-middleware/worker-middleware';
import { WorkerMiddlewareRegistry, defineWorkerMiddleware } from '../activities/worker-middleware/worker-middleware';
import type { RunEvent } from '../contract/events';
import { definitionOf } from '../kernel/define/agent-ref';
import { MemoryRun } from '../memory/run';
import { memoryWork } from '../testing/memory-work';
import { layered, layers, worker as bare } from './agents';
import type { Bed } from './setup';
import { benchTools, median, randomWords, rounded, startBed, startServer, turnModel } from './setup';

const turns = 200;
const rounds = 6;

/** What ten middlewares cost that do nothing, on both halves: the same turns of model and tool with and without them. */
export async function benchMiddleware(): Promise<object> {
  const say = randomWords(500);
  const models = turnModel(turns, 'look', () => say);
  const bench = await startServer();
  const bed = await startBed(bench, 'middleware', { models, middleware: emptyHalves });
  const times: number[][] = [[], []];
  try {
    for (let round = 0; round < rounds; round++) {
      for (const which of round % 2 === 0 ? [0, 1] : [1, 0])
        times[which]?.push(...(await turnTimes(bed, which === 0 ? bare.name : layered.name)));
    }
  } finally {
    await bed.close();
    await bench.close();
  }
  return {
    layers: [0, layers],
    turnMs: times.map((list) => rounded(medianOfWhole(list))),
    memoryMicrosecondsPerLayer: await memoryCost(say),
  };
}

const emptyHalves: readonly WorkerMiddleware[] = Array.from({ length: layers }, (_, position) =>
  defineWorkerMiddleware(`empty${position}`, () => ({
    wrapModel: {
      generate: (request, next) => next(request),
      stream: (request, next) => next(request),
    },
    wrapInvokableToolCall: (input, next) => next(input),
  })),
);

let ids = 0;

/** From one model call to the next. */
async function turnTimes({ client }: Bed, agent: string): Promise<readonly number[]> {
  const run = await client.start(agent, 'Work.', { id: `layers-${ids++}` });
  await run.result();
  const starts: RunEvent[] = [];
  for await (const event of run.events({ deltas: false })) if (event.type === 'model-start') starts.push(event);
  return starts.slice(1).map(({ time }, position) => time - (starts[position]?.time ?? 0));
}

/** Events tell whole milliseconds; the median lies somewhere within the one in the middle, where the times below and in it say. */
function medianOfWhole(values: readonly number[]): number {
  const middle = Math.floor(median(values));
  const below = values.filter((value) => value < middle).length;
  const within = values.filter((value) => value === middle).length;
  return middle + (values.length / 2 - below) / Math.max(1, within);
}

/** The code alone: the CPU time of a turn in memory with the layers and without them, and what one layer adds to it. */
async function memoryCost(say: string): Promise<number> {
  const once = async (agent: typeof bare | typeof layered): Promise<number> => {
    const parts = {
      tools: new ToolRegistry(benchTools),
      models: new ModelRegistry(turnModel(turns, 'look', () => say)),
      middleware: new WorkerMiddlewareRegistry(emptyHalves),
      outputs: new OutputRegistry({}),
      language: 'en' as const,
      toolDefaults: defaultToolFacts,
      modelFacts: defaultModelFacts,
    };
    const start = { version: 1 as const, tenant: 'default', id: 'bench', agent: agent.name, input: 'Work.', values: {} };
    const rest = { stream: true, options: {}, tags: [] };
    const agents = new Map([[agent.name, definitionOf(agent)]]);
    const begun = process.cpuUsage();
    const run = new MemoryRun(
      agents,
      { start: { ...start, ...rest } },
      memoryWork(parts, () => undefined),
      0,
    );
    await run.idle();
    if (run.view().status !== 'completed') throw new Error(`The run in memory is ${run.view().status}.`);
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / turns;
  };
  const times: { readonly without: number; readonly with: number }[] = [];
  for (let round = 0; round < 7; round++) times.push({ without: await once(bare), with: await once(layered) });
  const added = median(times.slice(2).map((time) => time.with)) - median(times.slice(2).map((time) => time.without));
  return rounded(added / layers, 1);
}
