import { answerOf, checkAnswer } from '../../client/runs/answers';
import type { HoldfastClient } from '../../client/connect';
import type { TimedAnswer } from '../../client/reading/stored-signals';
import type { Run } from '../../client/runs/run';
import { codeOf } from '../../contract/errors';
import type { RunEvent, RunView } from '../../contract/events';
import type { Answer, Interrupt } from '../../contract/interrupts';
import type { Json } from '../../contract/messages/messages';
import { defaultTenant, names, workflowIdOf } from '../../contract/names';
import type { Agent } from '../../kernel/define/agent-ref';
import { isAgent } from '../../kernel/define/agent-ref';
import { millisecondsOf } from '../../host/history/history-facts';
import type { MemoryRun } from '../../testing/memory/run';
import type { TestRun } from '../../testing/index';
import { testRun } from '../../testing/index';
import type { Temporal } from '../support/temporal';
import * as agentsModule from './agents';
import type { ParityBed } from './bed';
import { models } from './model';
import type { Part } from './play';
import { standsLike } from './play';
import { holdCalls } from './plays';
import type { Script } from './script';
import type { Standing, Table } from './table';
import { firstLimit, lateMs, lateTime, openAfter } from './table';
import { halves, outputs, tools } from './tools';
import { WholeCalls } from './whole-calls';

type AnyAgent = Agent<string, Json, unknown>;
const agents = new Map<string, AnyAgent>(
  Object.values(agentsModule).flatMap((value) => (isAgent(value) ? [[value.name, value as AnyAgent] as const] : [])),
);

/** Longer than a run's own waits, shorter than people's limits. */
const aWhile = '3s';

export async function tableInMemory({ agent, input, stream, bordersAt = [], killsAt = [] }: Script, id: string): Promise<Table> {
  const found = agents.get(agent);
  if (found === undefined) throw new Error(`There is no agent "${agent}".`);
  const run = await testRun(found, { id, input, stream, model: models, tools, outputs, middleware: halves });
  const borders = new Set([...bordersAt, ...killsAt]);
  let absence: Absence | undefined;
  let whole = new WholeCalls();
  let seen = 0;
  const log = async (): Promise<readonly RunEvent[]> => {
    const events: RunEvent[] = [];
    whole = new WholeCalls();
    for await (const given of run.events({ until: 'waiting' })) {
      const event = whole.shown(given);
      if (event === undefined) continue;
      events.push(event);
      if (events.length <= seen) continue;
      seen = events.length;
      if (borders.has(seen)) void run.goOnAsNew();
    }
    return events;
  };
  return {
    async standing() {
      await log();
      await run.advance(aWhile);
      const events = await log();
      return { log: events, open: openAfter(events) };
    },
    async view() {
      const view = await run.view();
      return { ...view, nextOffset: view.nextOffset - whole.hidden };
    },
    async answer(interruptId, answer, by) {
      const who = by === undefined ? {} : { by };
      if (absence === undefined) await run.resume(interruptId, answer, who);
      else absence.leave(answerOf(interruptId, answer, who));
    },
    cancel: async () => void (await run.cancel()),
    retry: () => run.retry(),
    async leave(late) {
      const { interrupts } = await run.view();
      const { now } = memoryOf(run).clock;
      absence = new Absence(interrupts, now, late ? lateTime(interrupts) : now);
      return true;
    },
    async comeBack() {
      const { began, ended, answers } = absence ?? new Absence([], 0, 0);
      absence = undefined;
      if (ended > began) await memoryOf(run).advance(ended - began);
      // A returning worker has all answers before the next call.
      const goOn = holdCalls(id);
      for (const answer of answers) await memoryOf(run).signal(answer);
      goOn();
    },
    async border() {
      const before = bordersOf(run);
      await run.goOnAsNew();
      return bordersOf(run) > before;
    },
    parts: () => partsInMemory(id, run),
    close: async () => undefined,
  };
}

/** While no worker is there. In memory, answers are checked as the client does and stored until the worker is back. */
class Absence {
  readonly answers: TimedAnswer[] = [];

  constructor(
    private readonly open: readonly Interrupt[],
    readonly began: number,
    readonly ended: number,
  ) {}

  leave(answer: Answer): void {
    const { answers, ended } = this;
    const interrupt = this.open.find(({ id }) => id === answer.interruptId);
    if (interrupt === undefined) throw new Error(`Nobody asked "${answer.interruptId}".`);
    const given = { ...answer, at: ended };
    checkAnswer(interrupt, given, answers);
    answers.push(given);
  }
}

function memoryOf(run: TestRun): MemoryRun {
  return (run as unknown as { readonly run: MemoryRun }).run;
}

function bordersOf(run: TestRun): number {
  return memoryOf(run).facts.filter(({ kind }) => kind === 'continued').length;
}

async function partsInMemory(root: string, run: TestRun): Promise<readonly Part[]> {
  const parts: Part[] = [];
  for (const [id, child] of run.children) {
    const log: RunEvent[] = [];
    for await (const event of child.events({ until: 'waiting' })) log.push(event);
    parts.push({ place: id.slice(root.length), log, view: await child.view() }, ...(await partsInMemory(root, child)));
  }
  return parts.sort((one, other) => (one.place < other.place ? -1 : 1));
}

/**
 * Longest silence of a run that lags behind memory, from the last kill on. After a kill, the server waits ten seconds per lost task, and
 * other scripts kill the same worker.
 */
const patienceMs = 90_000;

export async function tableOnServer(
  bed: ParityBed,
  temporal: Temporal,
  { agent, input, stream, bordersAt = [], killsAt = [] }: Script,
  id: string,
  places: readonly string[],
): Promise<Table> {
  const { client } = bed;
  const run: Run = await client.start(agent, input, { id, stream });
  const log: RunEvent[] = [];
  const whole = new WholeCalls();
  const leaving = new AbortController();
  let wake: () => void = () => undefined;
  const signals = new Set<Promise<void>>();
  const signalAll = async (): Promise<void> => {
    for (const place of ['', ...places])
      await temporal
        .handle(`${id}${place}`)
        .signal(names.continueAsNewSignal)
        .catch(() => undefined);
  };
  const follow = async (): Promise<void> => {
    for await (const given of run.events({ from: log.length + whole.hidden, deltas: false, signal: leaving.signal })) {
      const event = whole.shown(given);
      if (event === undefined) continue;
      log.push(event);
      if (bordersAt.includes(log.length)) {
        const sending = signalAll().then(() => void signals.delete(sending));
        signals.add(sending);
      }
      if (killsAt.includes(log.length)) bed.kill();
      wake();
    }
  };
  let following = follow();
  following.catch(() => wake());
  let triedAgainAt = 0;
  const hasEnded = (): boolean => log.length > triedAgainAt && log.at(-1)?.type === 'run-end';
  let stood: readonly Interrupt[] = [];
  return {
    async standing(like) {
      for (let known = -1, until = 0; ;) {
        if (log.length > known) [known, until] = [log.length, Date.now() + patienceMs];
        until = Math.max(until, bed.disturbedAt() + patienceMs);
        const standing: Standing = { log: [...log], open: openAfter(log) };
        stood = standing.open;
        if (like === undefined || standsLike(standing, like) || hasEnded()) return standing;
        if (Date.now() > until) return { ...standing, silentMs: patienceMs };
        await soon((resolve) => (wake = resolve), Math.min(until, Date.now() + 1000));
      }
    },
    async view() {
      const view = await run.view();
      return { ...view, nextOffset: view.nextOffset - whole.hidden };
    },
    answer: (interruptId, answer, by) => run.resume(interruptId, answer, by === undefined ? {} : { by }),
    async cancel() {
      // A cancel during the continue-as-new would come before the run stands again.
      await Promise.all(signals);
      for (const place of [...places, '']) await untilRests(temporal, `${id}${place}`);
      await run.cancel();
    },
    async retry() {
      await following;
      await run.retry();
      triedAgainAt = log.length;
      following = follow();
      following.catch(() => wake());
    },
    async leave(late) {
      const open = openAfter(log);
      // An open task would be cut off, and traces such as new timers be missing.
      await Promise.all(signals);
      await untilRests(temporal, id);
      await bed.leave();
      const isInTime = !late || Date.now() < firstLimit(stood);
      if (late) {
        await new Promise((resolve) => setTimeout(resolve, lateTime(open) - Date.now()));
        await untilSaid(temporal, id, lateTime(open) - lateMs);
      }
      return isInTime;
    },
    comeBack: () => bed.comeBack(),
    async border(expected) {
      const before = await temporal.executionOf(id);
      await signalAll();
      if (expected !== true) return false;
      for (const began = Date.now(); Date.now() < Math.max(began, bed.disturbedAt()) + patienceMs;) {
        if ((await temporal.executionOf(id)) !== before) return true;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return false;
    },
    parts: () => Promise.all(places.map((place) => partOnServer(client, id, place))),
    async close() {
      leaving.abort();
      await following;
      await bed.close();
    },
  };
}

const grpcNotFound = 5;

/** Waits until the first task of the execution is done, and no other task is open. An unknown execution rests. */
async function untilRests({ connection }: Temporal, id: string): Promise<void> {
  const execution = { workflowId: workflowIdOf(defaultTenant, id) };
  for (const until = Date.now() + patienceMs; Date.now() < until;) {
    try {
      const { workflowExecutionInfo, pendingWorkflowTask } = await connection.workflowService.describeWorkflowExecution({
        namespace: 'default',
        execution,
      });
      if (pendingWorkflowTask == null && Number(workflowExecutionInfo?.historyLength ?? 0) > 3) return;
    } catch (error) {
      if ((error as { code?: unknown }).code === grpcNotFound) return;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/**
 * Waits until the server's timers have caught up, because an answer counts by the server's time. Bounded, because an isolated agent's
 * deadline reaches the run only through a worker.
 */
async function untilSaid({ connection }: Temporal, id: string, time: number): Promise<void> {
  const execution = { workflowId: workflowIdOf(defaultTenant, id) };
  for (const until = Date.now() + serverLagMs; Date.now() < until;) {
    const { workflowExecutionInfo } = await connection.workflowService.describeWorkflowExecution({ namespace: 'default', execution });
    const { history } = await connection.workflowService.getWorkflowExecutionHistoryReverse({
      namespace: 'default',
      execution: { workflowId: execution.workflowId, runId: workflowExecutionInfo?.execution?.runId ?? '' },
      maximumPageSize: 1,
    });
    if (millisecondsOf(history?.events?.[0]?.eventTime) >= time) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const serverLagMs = 10_000;

const nothing: Omit<RunView, 'id'> = {
  agent: '',
  status: 'running',
  messages: [],
  interrupts: [],
  usage: { inputTokens: 0, outputTokens: 0 },
  nextOffset: 0,
};

async function partOnServer(client: HoldfastClient, root: string, place: string): Promise<Part> {
  const run = client.run(`${root}${place}`);
  const view = await run.view().catch((error: unknown) => {
    if (codeOf(error) === 'run-unknown') return undefined;
    throw error;
  });
  if (view === undefined) return { place, log: [], view: { ...nothing, id: `${root}${place}` } };
  const log: RunEvent[] = [];
  const until = new AbortController();
  for await (const event of run.events({ deltas: false, signal: until.signal })) {
    log.push(event);
    if (log.length >= view.nextOffset) until.abort();
  }
  return { place, log, view };
}

async function soon(listen: (resolve: () => void) => void, until: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    listen(resolve);
    timer = setTimeout(resolve, Math.max(0, until - Date.now()));
  });
  clearTimeout(timer);
}
