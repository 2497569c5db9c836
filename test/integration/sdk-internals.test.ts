import { mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { defaultPayloadConverter } from '@temporalio/common';
import { coresdk } from '@temporalio/proto';
import { Runtime, bundleWorkflowCode } from '@temporalio/worker';
import { loadInSandbox } from '../../worker/bundle/check-bundle';
import { replayHistories } from '../../worker/replay/replay-histories';
import { quietRuntime } from '../../worker/runtime';
import type { ThreadParts, Workflow, WorkflowCreateOptions } from '../../worker/sdk-internals';
import { WatchedThread, hasLooped, isThreadEnded, lostTaskLine, newThread, replayInThread, workerOn } from '../../worker/sdk-internals';
import { WatchedThreads } from '../../worker/threads/watched-threads';
import { madeBundle } from '../support/made-bundle';
import { variantOf } from '../support/bundle-variant';
import { calls, fixtureBundle, script, startTestBed, text } from '../support/test-bed';

const { WorkflowActivation } = coresdk.workflow_activation;
type Completion = Awaited<ReturnType<Workflow['activate']>>;

let code: string;
let parts: ThreadParts;
let created: WorkflowCreateOptions;
/** Bytes, because the SDK mutates activations. */
let first: Uint8Array;
const completions: Completion[] = [];

beforeAll(async () => {
  quietRuntime();
  const nothing = (): void => undefined;
  const logger = { log: nothing, trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };
  ({ code } = await bundleWorkflowCode({ workflowsPath: require.resolve('../fixtures/sdk-workflows'), logger }));
  const replayer = workerOn(
    (given) => WatchedThreads.create((parts = { ...given, limitMs: 1000 })),
    (workflows) => ({
      async createWorkflow(options) {
        created = options;
        const workflow = await workflows.createWorkflow(options);
        return {
          async activate(activation) {
            first ??= WorkflowActivation.encode(activation).finish();
            const completion = await workflow.activate(activation);
            completions.push(completion);
            return completion;
          },
          getAndResetSinkCalls: () => workflow.getAndResetSinkCalls(),
          dispose: () => workflow.dispose(),
        };
      },
      destroy: () => workflows.destroy(),
    }),
  );
  const options = { ...replayInThread, workflowBundle: { code } };
  for await (const { error } of replayer.runReplayHistories(options, [{ workflowId: 'sleeps', history: sleepsOnce }]))
    if (error !== undefined) throw error;
});

const made: WatchedThread[] = [];
const runs: Workflow[] = [];
afterEach(async () => {
  await Promise.all(runs.splice(0).map((run) => run.dispose()));
  await Promise.all(made.splice(0).map((thread) => thread.destroy()));
});

async function threadOf(stackTraces = false): Promise<WatchedThread> {
  const thread = await WatchedThread.start(newThread(stackTraces), parts, () => undefined);
  made.push(thread);
  return thread;
}

async function runOf(
  thread: WatchedThread,
  workflowType: string,
): Promise<{ first(): Promise<Completion>; query(name: string): Promise<Completion> }> {
  const runId = `run-${workflowType}`;
  const workflow = await thread.createWorkflow({ ...created, info: { ...created.info, workflowType, runId } });
  runs.push(workflow);
  return {
    first() {
      const activation = WorkflowActivation.decode(first);
      activation.runId = runId;
      for (const { initializeWorkflow } of activation.jobs) if (initializeWorkflow != null) initializeWorkflow.workflowType = workflowType;
      return workflow.activate(activation);
    },
    query: (queryType) =>
      workflow.activate(WorkflowActivation.fromObject({ runId, jobs: [{ queryWorkflow: { queryId: 'q', queryType } }] })),
  };
}

function answerIn({ successful }: Completion): unknown {
  const [command] = successful?.commands ?? [];
  const { succeeded, failed } = command?.respondToQuery ?? {};
  return failed?.message ?? defaultPayloadConverter.fromPayload(succeeded?.response as never);
}

describe('worker/sdk-internals.ts', () => {
  it('was written for this version of the SDK: read the file before the number here changes', () => {
    const { version } = jest.requireActual<{ version: string }>('@temporalio/worker/package.json');
    expect(version).toMatch(/^1\.24\./);
    const cores = join(dirname(require.resolve('@temporalio/core-bridge/package.json')), 'releases');
    // A compiler may take a text apart, as the one for Intel Macs did.
    for (const machine of readdirSync(cores).filter((name) => name.includes('linux')))
      expect(readFileSync(join(cores, machine, 'index.node')).includes(lostTaskLine)).toBe(true);
  });

  it('shows the commands of a replay', () => {
    expect(completions.flatMap(({ successful }) => successful?.commands ?? [])).toMatchObject([{ startTimer: { seq: 1 } }]);
  });

  it.each([
    ['notes no promise', false, /not enabled on this worker/],
    ['notes each promise where stack traces are wanted', true, /^ +at rests \(.*sdk-workflows\.ts:/],
  ])('%s', async (_, stackTraces, seen) => {
    const run = await runOf(await threadOf(stackTraces), 'rests');
    await run.first();
    expect(answerIn(await run.query('__stack_trace'))).toMatch(seen);
  });

  it('ends a thread for the run that goes on without a pause, whatever else was asked before and behind', async () => {
    const thread = await threadOf();
    const [rests, loops, sleeps] = [await runOf(thread, 'rests'), await runOf(thread, 'loops'), await runOf(thread, 'sleeps')];
    const [before, looped, behind] = await Promise.allSettled([rests.first(), loops.first(), sleeps.first()]);
    expect(looped).toMatchObject({ status: 'rejected' });
    expect(hasLooped((looped as PromiseRejectedResult).reason)).toBe(true);
    for (const one of [before, behind]) expect(one.status === 'fulfilled' || isThreadEnded(one.reason)).toBe(true);
    expect(thread.hasEnded).toBe(true);
  });

  it('says in the words of the code why a bundle does not load', async () => {
    const refusal = (loaded: string): Promise<string> =>
      loadInSandbox({ code: loaded }, 'It does not').then(
        () => 'it loads',
        ({ message }: Error) => message,
      );
    const { code: good } = fixtureBundle();
    expect(await refusal(good)).toBe('it loads');
    const { code: thrown } = variantOf(fixtureBundle(), "'You are a test.'", `(() => { throw new Error('no such "setting"'); })()`);
    expect(await refusal(thrown)).toBe('It does not load in the workflow sandbox: no such "setting"');
    expect(await refusal(code)).toMatch(/^It does not load in the workflow sandbox: .*no such function is exported/);
  });
});

it('a worker of which the core has lost a task ends, so that a supervisor starts the worker again', async () => {
  const bed = await startTestBed(script(text('Done.')), { bundles: mkdtempSync(join(tmpdir(), 'holdfast-lost-')) });
  const ended = jest.fn();
  const run = bed.worker.run().catch(ended);
  Runtime.instance().logger.error('Another line of the core');
  expect(await (await bed.client.start('plain', 'hello')).outcome()).toMatchObject({ status: 'completed' });
  expect(ended).not.toHaveBeenCalled();
  Runtime.instance().logger.error(lostTaskLine);
  await run;
  expect(ended).toHaveBeenCalledWith(
    expect.objectContaining({ code: 'internal', message: expect.stringContaining('lost a task') as string }),
  );
  await bed.close();
});

describe('HOLDFAST_STOCK_SDK=1', () => {
  let watched: jest.SpyInstance;
  beforeEach(() => {
    process.env['HOLDFAST_STOCK_SDK'] = '1';
    watched = jest.spyOn(WatchedThreads, 'create');
  });
  afterEach(() => {
    delete process.env['HOLDFAST_STOCK_SDK'];
    watched.mockRestore();
  });

  it('completes runs in threads of the SDK', async () => {
    const bundles = mkdtempSync(join(tmpdir(), 'holdfast-stock-'));
    const bed = await startTestBed(script(calls({ name: 'echo', input: { text: 'hello' } }), text('Done.')), { bundles });
    const run = await bed.client.start('plain', 'hello');
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    await bed.close();
    expect(watched).not.toHaveBeenCalled();
  });

  it('replays in threads of the SDK', async () => {
    const agents = join(__dirname, '..', 'replay', 'fixtures', 'agents.ts');
    const histories = join(__dirname, '..', 'replay', 'histories', 'fixtures');
    const replayed = await replayHistories({ agents, bundle: await madeBundle(agents), histories, changes: 'requests' });
    expect(replayed.length).toBeGreaterThan(3);
    expect(replayed.filter(({ asked }) => asked === '')).toEqual([]);
    expect(replayed.flatMap(({ id, differences }) => differences.map(({ message }) => `${id}: ${message}`))).toEqual([]);
    expect(watched).not.toHaveBeenCalled();
  });
});

const eventTime = '2026-01-01T00:00:00Z';
const event = (eventId: number, eventType: string, attributes: object): object => ({
  eventId: String(eventId),
  eventTime,
  eventType: `EVENT_TYPE_${eventType}`,
  ...attributes,
});

const sleepsOnce: object = {
  events: [
    event(1, 'WORKFLOW_EXECUTION_STARTED', {
      workflowExecutionStartedEventAttributes: {
        workflowType: { name: 'sleeps' },
        taskQueue: { name: 'check' },
        workflowTaskTimeout: '10s',
        originalExecutionRunId: '00000000-0000-4000-8000-000000000000',
        firstExecutionRunId: '00000000-0000-4000-8000-000000000000',
        attempt: 1,
      },
    }),
    event(2, 'WORKFLOW_TASK_SCHEDULED', {
      workflowTaskScheduledEventAttributes: { taskQueue: { name: 'check' }, startToCloseTimeout: '10s', attempt: 1 },
    }),
    event(3, 'WORKFLOW_TASK_STARTED', { workflowTaskStartedEventAttributes: { scheduledEventId: '2' } }),
    event(4, 'WORKFLOW_TASK_COMPLETED', { workflowTaskCompletedEventAttributes: { scheduledEventId: '2', startedEventId: '3' } }),
    event(5, 'TIMER_STARTED', {
      timerStartedEventAttributes: { timerId: '1', startToFireTimeout: '60s', workflowTaskCompletedEventId: '4' },
    }),
  ],
};
