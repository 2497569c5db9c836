import { setImmediate } from 'node:timers/promises';
import type { Payload } from '@temporalio/common';
import { TypedSearchAttributes, defaultPayloadConverter } from '@temporalio/common';
import type { ActivateInput } from '@temporalio/workflow';
import { CancellationScope } from '@temporalio/workflow';
import { Activator } from '@temporalio/workflow/lib/internals';
import { tryUnblockConditions } from '@temporalio/workflow/lib/worker-interface';
import { agentTool, defineAgent } from 'holdfast/workflow';
import type { AgentMiddleware } from 'holdfast/workflow';
import { names } from '../../../contract/names';
import { serveAgents } from '../../../workflows/agent-run';
import { interceptors } from '../../../workflows/interceptors';
import { byHand } from '../../support/team-bed';

// Runs the SDK's sandbox code outside of a sandbox.
jest.mock('@temporalio/workflow', () => {
  Object.assign(globalThis, {
    AsyncLocalStorage: jest.requireActual<{ AsyncLocalStorage: unknown }>('node:async_hooks').AsyncLocalStorage,
  });
  return jest.requireActual<object>('@temporalio/workflow');
});

type Job = NonNullable<ActivateInput['activation']['jobs']>[number];
type Command = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;
type Activate = (input: ActivateInput, next: (input: ActivateInput) => void) => void;

const scope = globalThis as { __TEMPORAL_ACTIVATOR__?: unknown };
afterEach(() => {
  delete scope.__TEMPORAL_ACTIVATOR__;
});

const limits = { timeoutMs: 1000, attempts: 1 };
const manifest = {
  version: 1,
  language: 'en',
  defaults: { tool: { ...limits, kind: 'invokable', effect: 'idempotent' }, model: { ...limits, heartbeatMs: 1000 } },
  tools: { echo: {} },
  models: {},
  workerMiddleware: [],
};

let events = 0;

class HandDrivenRun {
  private readonly activator = activatorOf({
    workflowType: 'agentRun',
    historyLength: 0,
    memo: {},
    unsafe: { isReplaying: false },
    startTime: new Date(0),
    typedSearchAttributes: new TypedSearchAttributes([]),
  });
  private readonly activate = interceptors().internals?.[0]?.activate as Activate;
  private readonly calls: { readonly type: string; readonly id: string; readonly seq: number }[] = [];

  private readonly timers: number[] = [];
  /** Of the last activity of each type. */
  readonly inputs: Record<string, unknown> = {};

  constructor(private readonly agent: { readonly name: string }) {}

  async begin(more: object = {}): Promise<void> {
    await this.task(() => {
      const start = { version: 1, tenant: 't', id: 'i', agent: this.agent.name, input: 'Hi', stream: false, ...more };
      const run = (): Promise<unknown> => serveAgents({ agent: this.agent })({ start } as never);
      void CancellationScope.current()
        .run(run)
        .then(
          (result) => (this.activator as unknown as { completeWorkflow(result: unknown): void }).completeWorkflow(result),
          (error: unknown) => (this.activator as unknown as { handleWorkflowFailure(error: unknown): void }).handleWorkflowFailure(error),
        );
    });
    await this.task(this.result('prepareRun', manifest));
  }

  async task(...given: (Job | (() => void))[]): Promise<string[]> {
    events += 100;
    const historyLength = events;
    this.activator.mutateWorkflowInfo((info) => ({ ...info, historyLength }));
    const activation = { jobs: given, historyLength, historySizeBytes: historyLength, timestamp: { seconds: historyLength } };
    this.activate({ activation, batchIndex: 0 } as unknown as ActivateInput, (part) => {
      for (const job of (part.activation.jobs ?? []) as (Job | (() => void))[]) {
        if (typeof job === 'function') job();
        else
          for (const [kind, value] of Object.entries(job))
            (this.activator as unknown as Record<string, (value: unknown) => void>)[kind]?.(value);
      }
    });
    do await setImmediate();
    while (tryUnblockConditions() > 0);
    const commands = (this.activator as unknown as { commands: Command[] }).commands.splice(0);
    return commands.map((command) => {
      const [[kind, value]] = Object.entries(command).filter(([kind, value]) => value != null && kind !== 'userMetadata') as [
        [string, Readonly<Record<string, unknown>>],
      ];
      const [input] = (value['arguments'] ?? []) as Payload[];
      if (kind === 'scheduleActivity') this.inputs[String(value['activityType'])] = input && defaultPayloadConverter.fromPayload(input);
      if (kind === 'scheduleActivity')
        this.calls.push({ type: String(value['activityType']), id: String(value['activityId']), seq: Number(value['seq']) });
      if (kind === 'startTimer') this.timers.push(Number(value['seq']));
      return kind === 'scheduleActivity' ? String(value['activityType']) : kind;
    });
  }

  result(type: string, value: object, word = ''): Job {
    const position = this.calls.findIndex((call) => call.type === type && call.id.includes(word));
    const [call] = this.calls.splice(position, 1);
    if (position < 0 || call === undefined) throw new Error(`No call of ${type} "${word}" is open.`);
    return {
      resolveActivity: {
        seq: call.seq,
        result: { completed: { result: defaultPayloadConverter.toPayload({ address: call.id, ...value }) } },
      },
    };
  }

  timer(): Job {
    return { fireTimer: { seq: this.timers.shift() ?? 0 } };
  }

  answer(word: string, ...parts: object[]): Job {
    return this.result(
      'callModel',
      {
        message: { id: `m-${word}`, role: 'assistant', parts },
        model: 'test/model',
        usage: { inputTokens: 1, outputTokens: 1 },
        finish: 'stop',
      },
      word,
    );
  }
}

function activatorOf(info: object): Activator {
  const activator = new Activator({
    info,
    now: () => 0,
    getTimeOfDay: () => 0n,
    randomnessSeed: [1],
    registeredActivityNames: new Set(),
  } as unknown as ConstructorParameters<typeof Activator>[0]);
  scope.__TEMPORAL_ACTIVATOR__ = activator;
  return activator;
}

function agentWith(name: string, ...middleware: readonly AgentMiddleware[]) {
  return defineAgent({ name, description: 'Under test.', instructions: 'Be a test.', model: 'test/model', tools: ['echo'], middleware });
}

const signal = (signalName: string, content: object): Job => ({
  signalWorkflow: { signalName, input: [defaultPayloadConverter.toPayload(content)] },
});
const text = (text: string): object => ({ type: 'text', text });
const toolCall = { type: 'tool-call', id: 'c1', name: 'echo', input: { text: 'a' } };
const toolResult = { outcome: { type: 'done', output: 'a', messageId: 'tool-message' } };

it('a cancelled run makes the commands that found no room in later tasks, and then ends', async () => {
  const louder: AgentMiddleware = {
    name: 'louder',
    wrapToolCall: (call, next) => next({ ...call, input: { text: `${JSON.stringify(call.input)}!` } }),
  };
  const run = new HandDrivenRun(agentWith('agent', louder));
  await run.begin();
  const calls = Array.from({ length: 6 }, (_, n) => ({ ...toolCall, id: `c${n}`, input: { text: String(n).repeat(700_000) } }));
  expect(await run.task(run.answer('agent', ...calls))).toEqual(expect.arrayContaining(['parseInput', 'parseInput', 'startTimer']));
  expect(await run.task({ cancelWorkflow: { reason: 'enough' } })).toEqual([]);
  expect(await run.task(run.timer())).toEqual(['parseInput', 'parseInput', 'startTimer']);
  expect(await run.task(run.timer())).toEqual(['parseInput', 'parseInput']);
  const refused = Array.from({ length: 6 }, () => run.result('parseInput', { ok: false, message: 'No.' }));
  expect(await run.task(...refused)).toContain(names.keepActivity);
  expect(await run.task(run.result(names.keepActivity, {}))).toContain('cancelWorkflowExecution');
});

it.each<[string, Job]>([
  ['a cancel', { cancelWorkflow: { reason: 'enough' } }],
  ['the signal of a cancel', signal(names.cancelSignal, { modes: ['now'], recursive: true })],
])('a call that a result asks for is not withdrawn where %s came with the result', async (_, cancel) => {
  const run = new HandDrivenRun(agentWith('agent'));
  await run.begin();
  const commands = await run.task(run.answer('agent', toolCall), cancel);
  if (commands.includes('callTool')) expect(await run.task(run.timer())).toContain('requestCancelActivity');
  else expect(commands).toContain('modifyWorkflowProperties');
  expect(commands).not.toContain('requestCancelActivity');
});

it('an isolated agent that a result asks for does not count as begun where a cancel came with the result', async () => {
  const boss = defineAgent({
    name: 'boss',
    description: 'Asks.',
    instructions: 'Ask.',
    model: 'test/model',
    tools: [agentTool(agentWith('worker'), { isolate: true })],
  });
  const run = new HandDrivenRun(boss);
  await run.begin();
  const asked = { type: 'tool-call', id: 'c1', name: 'worker', input: { request: 'Go.' } };
  const commands = await run.task(run.answer('boss', asked), { cancelWorkflow: { reason: 'enough' } });
  expect(commands).not.toContain('startChildWorkflowExecution');
  expect(run.inputs[names.keepActivity]).toMatchObject({ point: { snapshot: { state: { id: 'i' } } } });
  expect(run.inputs[names.keepActivity]).not.toMatchObject({ point: { snapshot: { state: { cut: expect.anything() } } } });
});

it('a call of a model is not withdrawn where the stop of its turn comes with what asks for the call', async () => {
  const run = new HandDrivenRun(agentWith('agent'));
  await run.begin({ conversation: { window: 200 } });
  await run.task(signal(names.conversationSignal, { type: 'send', messages: [{ id: 'm1', content: 'Hi', mode: 'after-turn' }] }));
  await run.task(run.answer('agent', toolCall));
  const stop = signal(names.conversationSignal, { type: 'stop' });
  expect(await run.task(run.result('callTool', toolResult), stop)).toEqual(['callModel', 'startTimer', 'modifyWorkflowProperties']);
  expect(await run.task(run.timer())).toEqual(['requestCancelActivity']);
});

it('the end of a run is the last command of its task', async () => {
  const race: AgentMiddleware = {
    name: 'race',
    afterAgent: async (_, ctx) => {
      await ctx.race({ ask: (apart) => apart.interrupt('Sure?'), act: (apart) => apart.call('echo', { text: 'a' }) });
    },
  };
  const run = new HandDrivenRun(
    byHand(
      'pair',
      async function* (_, ctx) {
        await Promise.all([ctx.runAgent('slow', 'x'), ctx.runAgent('fast', 'y')]);
        return 'done';
      },
      [agentWith('slow', race), agentWith('fast')],
    ),
  );
  await run.begin();
  await run.task(run.answer('fast', text('Done.')));
  await run.task(run.answer('slow', text('Done.')));
  const last = await run.task(run.result('callTool', toolResult));
  expect(last).toEqual(['upsertWorkflowSearchAttributes', 'modifyWorkflowProperties', 'completeWorkflowExecution']);
});

it('a run that ends while it could go on as new tells its last events, and ends', async () => {
  const hasty = byHand(
    'hasty',
    async function* (_, ctx) {
      await Promise.race([ctx.runAgent('slow', 'x'), ctx.runAgent('fast', 'y')]);
      return 'done';
    },
    [agentWith('slow'), agentWith('fast')],
  );
  const run = new HandDrivenRun(hasty);
  await run.begin();
  await run.task(run.answer('slow', toolCall));
  await run.task({ signalWorkflow: { signalName: names.continueAsNewSignal, input: [] } });
  await run.task(run.result('callTool', toolResult));
  expect(await run.task(run.answer('fast', text('Done.')))).toEqual(['modifyWorkflowProperties', 'failWorkflowExecution']);
});
