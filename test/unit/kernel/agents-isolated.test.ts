import { ApplicationFailure, CancelledFailure, ChildWorkflowFailure, TerminatedFailure, TimeoutFailure } from '@temporalio/common';
import type { RunEvent } from '../../../contract/events';
import { agentOfChildRun, childRunId, isAnyRunId } from '../../../contract/record/child-runs';
import { isRunId } from '../../../contract/names';
import type { Agent, AgentMiddleware } from '../../../workflows/index';
import { agentTool, parallel, sequential } from '../../../workflows/index';
import { setSubAgents } from '../../../middleware/forms/index';
import { endOfFailed } from '../../../workflows/temporal-children';
import type { ScriptedStep, TestRun } from '../../../testing/index';
import { testRun } from '../../../testing/index';
import { failureSaying } from '../../support/failures';
import { logOf, tools } from '../../support/memory-bed';
import type { Scripts } from '../../support/team-bed';
import { byHand, heard, member, placed, play, scripts } from '../../support/team-bed';

const usage = { inputTokens: 3, outputTokens: 2 };
const says = (text: string): ScriptedStep => ({ text, usage });
const both = { first: [says('One.')], second: [says('Two.')] };
const delegate = (name: string, request = 'Do it.', id = name): ScriptedStep => ({ toolCalls: [{ name, input: { request }, id }], usage });

const asking: AgentMiddleware = {
  name: 'asking',
  beforeModelRewriteState: async (_, ctx) => {
    ctx.sendEvent('answer', await ctx.interrupt<string>({ who: ctx.agent }));
  },
};
const waiting: AgentMiddleware = { name: 'waiting', beforeModelRewriteState: async (_, ctx) => void (await ctx.sleep('1h')) };
const setting = (values: Readonly<Record<string, string>>): AgentMiddleware => ({
  name: 'setting',
  beforeModelRewriteState: (_, ctx) => {
    for (const [key, value] of Object.entries(values)) ctx.session.set(key, value);
  },
});

const chunk = 'x'.repeat(250_000);
const fill = (count: number, session: { set(key: string, value: string): void }): void => {
  for (let nth = 0; nth < count; nth++) session.set(`f${nth}`, chunk);
};
const filling = (count: number): AgentMiddleware => ({ name: 'filling', beforeModelRewriteState: (_, ctx) => fill(count, ctx.session) });
const writing = (count: number) =>
  byHand('writes', async function* (_, ctx) {
    fill(count, ctx.session);
    return 'Written.';
  });
const throwing = (count: number) =>
  byHand('throws', async function* (_, ctx) {
    fill(count, ctx.session);
    yield { output: 'Filled.' };
    throw new Error('Out of order.');
  });
const sequentialAfterTool = (tool: Agent<'throws', string, unknown>) =>
  sequential({
    name: 'both',
    agents: [
      member('asks', { tools: [agentTool(tool, { isolate: true })] }),
      byHand('looks', async function* (_, ctx) {
        return ctx.session.get('f0') === undefined ? 'It is not there.' : 'It is there.';
      }),
    ],
  });

function child(run: TestRun, id: string): TestRun {
  const found = run.children.get(id);
  if (found === undefined) throw new Error(`There are ${[...run.children.keys()].join(', ')}.`);
  return found;
}

async function start(agent: Agent<string, string, unknown>, steps: Readonly<Record<string, readonly ScriptedStep[]>>) {
  const model: Scripts = scripts(steps);
  return { run: await testRun(agent, { input: 'Go.', model, tools }), model };
}

function isolated(...agents: readonly Agent<string, unknown, unknown>[]): Agent<'team', string, unknown> {
  return parallel({ name: 'team', isolate: true, agents });
}

function typed<Type extends RunEvent['type']>(events: readonly RunEvent[], type: Type): readonly Extract<RunEvent, { type: Type }>[] {
  return events.filter((event): event is Extract<RunEvent, { type: Type }> => event.type === type);
}

describe('agents at the same time, each a run of its own', () => {
  it('give what they give in one run, and have their logs to themselves', async () => {
    const { run, outcome } = await play(isolated(member('first'), member('second')), both);
    expect(outcome).toMatchObject({ status: 'completed', output: { first: 'One.', second: 'Two.' } });
    const log = await logOf(run);
    expect(log.map(placed)).toEqual([
      'run-start',
      'agent-start team/first',
      'agent-start team/second',
      'agent-message team/first',
      'agent-end team/first',
      'agent-message team/second',
      'agent-end team/second',
      'run-end',
    ]);
    expect(typed(log, 'agent-start').map((event) => event.run)).toEqual(['test~first', 'test~second']);
    expect(typed(log, 'agent-end').map((event) => event.run)).toEqual(['test~first', 'test~second']);
    expect((await logOf(child(run, 'test~first'))).map(placed)).toEqual(['run-start', 'model-start first', 'model-end first', 'run-end']);
    expect(await child(run, 'test~first').outcome()).toMatchObject({ status: 'completed', output: 'One.' });
  });

  it('begin with what was said, and are heard by those after them', async () => {
    const agent = sequential({ name: 'all', agents: [member('before'), isolated(member('first'), member('second')), member('after')] });
    const { run, model } = await play(agent, {
      before: [says('Zero.')],
      first: [says('One.')],
      second: [says('Two.')],
      after: [says('Three.')],
    });
    expect(heard(model.requests('first')[0] as never)).toEqual(['user: Go.', 'user: For context: [before] said: Zero..']);
    expect(heard(model.requests('after')[0] as never)).toEqual([
      'user: Go.',
      'user: For context: [before] said: Zero..',
      'user: For context: [first] said: One..',
      'user: For context: [second] said: Two..',
    ]);
    expect((await run.transcript()).map(({ role }) => role)).toEqual(['user', 'assistant', 'assistant', 'assistant', 'assistant']);
  });

  it('are told the same by their model as inside of one run', async () => {
    const ask = async (isolate: boolean): Promise<unknown> => {
      const { model } = await play(parallel({ name: 'team', isolate, agents: [member('first'), member('second')] }), both);
      return model.requests('first').map(({ model: name, messages, instructions, tools: offered }) => ({
        name,
        instructions,
        offered,
        messages: messages.map(({ role, parts }) => ({ role, parts })),
      }));
    };
    expect(await ask(true)).toEqual(await ask(false));
  });

  it('fail when what they have set and answered does not fit together, and keep what they used', async () => {
    const { run, outcome } = await play(isolated(member('fat', { middleware: [filling(20)] }), member('second')), {
      fat: [says('One.')],
      second: [says('Two.')],
    });
    expect(outcome).toMatchObject(failureSaying('payload-too-large', /^The agent 'fat' failed: .*session values/));
    expect(await child(run, 'test~fat').outcome()).toMatchObject(failureSaying('payload-too-large'));
    expect(await child(run, 'test~second').outcome()).toMatchObject({ status: 'completed' });
    expect(await run.usage()).toEqual({ inputTokens: 6, outputTokens: 4 });
  });

  it('fail with their own error, whatever they have set before', async () => {
    for (const count of [7, 20]) {
      const { outcome } = await play(isolated(throwing(count)), {});
      expect(outcome).toMatchObject(failureSaying('hook-failed', 'Out of order.'));
    }
  });

  it('leave the values that they have set when they fail, if all of them fit', async () => {
    for (const [count, seen] of [
      [1, true],
      [20, false],
    ] as const) {
      const { run } = await start(sequentialAfterTool(throwing(count)), { asks: [delegate('throws'), says('Done.')] });
      expect(await run.outcome()).toMatchObject({ status: 'completed', output: seen ? 'It is there.' : 'It is not there.' });
    }
  });

  it('do not begin when the values of their run do not fit into their start, and the run goes on', async () => {
    const { outcome } = await play(
      sequential({ name: 'all', agents: [writing(5), parallel({ name: 'team', isolate: true, agents: [member('first')] })] }),
      { first: [says('One.')] },
    );
    expect(outcome).toMatchObject(failureSaying('payload-too-large', 'The input of the start of the agent "first"'));
  });

  it('are found in the exported one, also two of one name', async () => {
    const writer = member('writer');
    const agent = sequential({
      name: 'all',
      agents: [
        parallel({ name: 'left', isolate: true, agents: [writer] }),
        parallel({ name: 'right', isolate: true, agents: [setSubAgents(writer, [member('aide')])] }),
      ],
    });
    const { run, model } = await play(agent, { writer: [says('One.'), says('Two.')] });
    expect([...run.children.keys()]).toEqual(['test~left.writer', 'test~right.writer']);
    expect(await child(run, 'test~left.writer').outcome()).toMatchObject({ status: 'completed', output: 'One.' });
    expect(model.requests('writer').map(({ tools: told }) => told.map(({ name }) => name))).toEqual([[], ['transfer_to_agent']]);
  });

  it('may be groups that isolate agents of their own', async () => {
    const agent = isolated(parallel({ name: 'inner', isolate: true, agents: [member('deep')] }), member('first'));
    const { run, outcome } = await play(agent, { deep: [says('Deep.')], first: [says('One.')] });
    expect(outcome).toMatchObject({ status: 'completed', output: { inner: { deep: 'Deep.' }, first: 'One.' } });
    expect([...child(run, 'test~inner').children.keys()]).toEqual(['test~inner~deep']);
    expect(await run.usage()).toEqual({ inputTokens: 6, outputTokens: 4 });
  });

  it('get the options for them, and not those for others', async () => {
    const run = await testRun(isolated(member('first'), member('second')), {
      input: 'Go.',
      model: scripts({ first: [says('One.')], other: [says('Two.')] }),
      tools,
      options: { agents: { second: { model: 'test/other' } } },
    });
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: { first: 'One.', second: 'Two.' } });
  });

  it('that fail take no other with them, and the first in their order is told by name', async () => {
    const { run, outcome } = await play(isolated(member('first'), member('second'), member('third')), {
      first: [says('One.')],
      second: [{ error: 'out of order', retryable: false, usage }],
      third: [says('Three.')],
    });
    expect(outcome).toMatchObject(failureSaying('model-failed'));
    expect((outcome as { error: { message: string } }).error.message).toMatch(/^The agent 'second' failed: .*out of order/);
    expect(await child(run, 'test~third').outcome()).toMatchObject({ status: 'completed' });
    expect(typed(await logOf(run), 'agent-end').map((event) => event.error?.code)).toContain('model-failed');
  });

  it('that are cancelled, alone or with their run, fail only their lane, and add what they used and set all the same', async () => {
    const paying = member('first', {
      tools: ['echo'],
      middleware: [
        setting({ who: 'first' }),
        { name: 'later', beforeModelRewriteState: async (_, ctx) => void (ctx.iteration === 2 && (await ctx.interrupt('?'))) },
      ],
    });
    const echoed: ScriptedStep = { toolCalls: [{ name: 'echo', input: { text: 'x' } }], usage };
    const one = await start(isolated(paying), { first: [echoed] });
    await one.run.interrupts();
    await child(one.run, 'test~first').cancel();
    expect(await one.run.outcome()).toMatchObject(failureSaying('child-cancelled'));
    expect(await child(one.run, 'test~first').outcome()).toEqual({ status: 'cancelled' });
    expect(await one.run.interrupts()).toEqual([]);
    expect(await one.run.usage()).toEqual(usage);
    expect(typed(await logOf(one.run), 'agent-end')).toMatchObject([
      { usage, usageByModel: { 'test/first': usage }, error: { code: 'child-cancelled' } },
    ]);

    const whole = await start(isolated(parallel({ name: 'inner', isolate: true, agents: [paying] })), { first: [echoed] });
    await whole.run.interrupts();
    await whole.run.cancel();
    expect(await whole.run.outcome()).toEqual({ status: 'cancelled' });
    expect(await whole.run.usage()).toEqual(usage);
  });
});

describe('session values of isolated agents', () => {
  const reading: AgentMiddleware = {
    name: 'reading',
    beforeModelRewriteState: (_, ctx) =>
      ctx.sendEvent('session', { who: ctx.session.get('who') ?? null, kept: ctx.session.get('kept') ?? null }),
  };
  const seen = (events: readonly RunEvent[]) => typed(events, 'custom').map(({ data }) => data);

  it('go in, and come back in the order of the agents', async () => {
    const agent = sequential({
      name: 'all',
      agents: [
        member('before', { middleware: [setting({ who: 'before', kept: 'before' })] }),
        isolated(
          member('first', { middleware: [reading, waiting, setting({ who: 'first' })] }),
          member('second', { middleware: [setting({ who: 'second' })] }),
          member('third'),
        ),
        member('after', { middleware: [reading] }),
      ],
    });
    const { run } = await start(agent, {
      before: [says('.')],
      first: [says('.')],
      second: [says('.')],
      third: [says('.')],
      after: [says('.')],
    });
    await run.outcome();
    await run.advance('1h');
    expect(seen(await logOf(child(run, 'test~team.first')))).toEqual([{ who: 'before', kept: 'before' }]);
    expect(seen(await logOf(run))).toEqual([{ who: 'second', kept: 'before' }]);
  });
});

describe('an interrupt of an isolated agent', () => {
  const asks = (name: string): Agent<string> => member(name, { middleware: [asking] });

  it('stands in the list of the run, and its answer goes to the agent', async () => {
    const { run } = await start(isolated(asks('first'), asks('second')), both);
    const open = await run.interrupts();
    expect(open.map(({ id, agent, address }) => ({ id, agent, place: address.slice(0, 2) }))).toEqual([
      { id: expect.stringMatching(/^team\.first\./) as string, agent: 'first', place: ['team', 'first'] },
      { id: expect.stringMatching(/^team\.second\./) as string, agent: 'second', place: ['team', 'second'] },
    ]);
    for (const { id } of open) await run.resume(id, `yes to ${id}`);
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: { first: 'One.', second: 'Two.' } });
    const [first] = open;
    expect(typed(await logOf(child(run, 'test~first')), 'custom').map(({ data }) => data)).toEqual([`yes to ${first?.id ?? ''}`]);
    expect(typed(await logOf(run), 'interrupt-end').map(({ reason }) => reason)).toEqual(['answer', 'answer']);
  });

  it('is refused like one of the run: what does not fit, and a second answer', async () => {
    const picky: AgentMiddleware = {
      name: 'picky',
      beforeModelRewriteState: async (_, ctx) => void (await ctx.interrupt({}, { answerSchema: { type: 'number' }, by: ['ada'] })),
    };
    const { run } = await start(isolated(member('first', { middleware: [picky] }), asks('second')), { first: [says('One.')] });
    const id = (await run.interrupts())[0]?.id ?? '';
    await expect(run.resume(id, 3)).rejects.toMatchObject({ code: 'answer-forbidden' });
    await expect(run.resume(id, 'three', { by: 'ada' })).rejects.toMatchObject({ code: 'answer-invalid' });
    await run.resume(id, 3, { by: 'ada' });
    await run.outcome();
    await expect(run.resume(id, 4, { by: 'ada' })).rejects.toMatchObject({ code: 'interrupt-answered' });
  });

  it('leaves the list when it is answered in its own run', async () => {
    const { run } = await start(isolated(asks('first')), { first: [says('One.')] });
    await run.outcome();
    const own = child(run, 'test~first');
    await own.resume((await own.interrupts())[0]?.id ?? '', 'yes', { by: 'ada' });
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(typed(await logOf(run), 'interrupt-end')).toMatchObject([{ reason: 'answer', answer: 'yes', by: 'ada' }]);
  });

  it('is taken once when it is answered in both runs at the same moment, and neither log has the other answer', async () => {
    for (const firstInRoot of [true, false]) {
      const { run } = await start(isolated(parallel({ name: 'inner', isolate: true, agents: [asks('first')] })), { first: [says('One.')] });
      const [there] = await run.interrupts();
      const own = child(child(run, 'test~inner'), 'test~inner~first');
      const [here] = await own.interrupts();
      const answering = [
        (): Promise<void> => run.resume(there?.id ?? '', 'there'),
        (): Promise<void> => own.resume(here?.id ?? '', 'here'),
      ];
      const settled = await Promise.allSettled((firstInRoot ? answering : answering.reverse()).map((answer) => answer()));
      expect(settled).toMatchObject([{ status: 'fulfilled' }, { status: 'rejected', reason: { code: 'interrupt-answered' } }]);
      expect(await run.outcome()).toMatchObject({ status: 'completed' });
      const taken = [run, own].map(async (one) => typed(await logOf(one), 'interrupt-end').map(({ answer }) => answer));
      expect(await Promise.all(taken)).toEqual(firstInRoot ? [['there'], ['there']] : [['here'], ['here']]);
    }
  });

  it('leaves the list at its deadline', async () => {
    const expiring: AgentMiddleware = {
      name: 'expiring',
      beforeModelRewriteState: async (_, ctx) => void (await ctx.interrupt({}, { deadline: '1d', onDeadline: 'late' })),
    };
    const { run } = await start(isolated(member('first', { middleware: [expiring] })), { first: [says('One.')] });
    expect(await run.interrupts()).toHaveLength(1);
    await run.advance('1d');
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(typed(await logOf(run), 'interrupt-end')).toMatchObject([{ reason: 'deadline', answer: 'late' }]);
  });

  it('survives that its run goes on as new, and the one that it is part of does so after it', async () => {
    const agent = sequential({ name: 'all', agents: [isolated(asks('first')), member('after')] });
    const { run } = await start(agent, { first: [says('One.')], after: [says('Two.')] });
    const open = await run.interrupts();
    await run.goOnAsNew();
    expect(await run.interrupts()).toEqual(open);
    await run.resume(open[0]?.id ?? '', 'yes');
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Two.' });
    expect(await run.usage()).toEqual({ inputTokens: 6, outputTokens: 4 });
  });
});

describe('an isolated agent as a tool', () => {
  const helper = member('helper');
  const guide = (options: object = {}, part: Agent<string> = helper): Agent<'guide'> =>
    member('guide', { tools: [agentTool(part, { isolate: true, ...options })] });

  it('answers the call, and its run stands in the log', async () => {
    const { run, model, outcome } = await play(guide(), { guide: [delegate('helper', 'Look.'), says('Done.')], helper: [says('Found.')] });
    expect(outcome).toMatchObject({ status: 'completed', output: 'Done.' });
    expect(heard(model.requests('helper')[0] as never)).toEqual(['user: Look.']);
    expect(heard(model.requests('guide')[1] as never).at(-1)).toContain('tool');
    const log = await logOf(run);
    expect(typed(log, 'agent-start')).toMatchObject([{ run: 'test~helper@1', runPath: ['guide', 'helper@1'] }]);
    expect(typed(log, 'agent-message')).toEqual([]);
    expect(await run.usage()).toEqual({ inputTokens: 9, outputTokens: 6 });
    expect(await child(run, 'test~helper@1').outcome()).toMatchObject({ status: 'completed', output: 'Found.' });
  });

  it('fails its call, and the model hears why and with which code', async () => {
    const { run, outcome } = await play(guide(), {
      guide: [delegate('helper'), says('Without it.')],
      helper: [{ error: 'out of order', retryable: false }],
    });
    expect(outcome).toMatchObject({ status: 'completed', output: 'Without it.' });
    const [end] = typed(await logOf(run), 'tool-end');
    expect(end?.error?.code).toBe('tool-failed');
    expect(end?.error?.message).toMatch(/^The agent 'helper' failed: .*\(model-failed\)$/);
    expect(typed(await logOf(run), 'agent-end')[0]?.error).toMatchObject({ code: 'model-failed' });
  });

  it('that made no event fails its call, as it does inside of the run', async () => {
    const silent = byHand('helper', async function* () {});
    const { run } = await play(guide({}, silent), { guide: [delegate('helper'), says('Without it.')] });
    expect(typed(await logOf(run), 'tool-end')[0]?.error).toMatchObject({ code: 'tool-failed' });
  });

  it('that is cancelled alone fails its call only, and leaves its session values to the agent that called it', async () => {
    const seen: AgentMiddleware = { name: 'seen', afterAgent: (_, ctx) => ctx.sendEvent('who', ctx.session.get('who') ?? null) };
    const cancelled = agentTool(member('helper', { middleware: [setting({ who: 'helper' }), asking] }), { isolate: true });
    const { run } = await start(member('guide', { tools: [cancelled], middleware: [seen] }), {
      guide: [delegate('helper'), says('Without it.')],
    });
    await run.outcome();
    await child(run, 'test~helper@1').cancel();
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Without it.' });
    expect(typed(await logOf(run), 'tool-end')[0]?.error).toMatchObject({ code: 'child-cancelled' });
    expect(typed(await logOf(run), 'custom').map(({ data }) => data)).toEqual(['helper']);
  });

  it('has an interrupt that is answered in the run, over a continue-as-new of either', async () => {
    const { run } = await start(guide({}, member('helper', { middleware: [asking] })), {
      guide: [delegate('helper'), says('Done.')],
      helper: [says('Found.')],
    });
    const [open] = await run.interrupts();
    expect(open?.id).toMatch(/^guide\.helper~1\./);
    await run.goOnAsNew();
    await run.resume(open?.id ?? '', 'yes');
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Done.' });
  });

  it('forwards no events, and says so', () => {
    expect(() => agentTool(helper, { isolate: true, forwardEvents: true })).toThrow(/a log of its own/);
    expect(() => agentTool(helper, { isolate: 'yes' as never })).toThrow(
      /agentTool\("helper"\): isolate must be true or false\. It is "yes"\./,
    );
  });
});

describe('the id of an isolated run', () => {
  it('can be read and not be started with, and differs wherever the agent does', () => {
    const id = childRunId('my.run', ['team', 'critic#2', 'writer@3']);
    expect(id).toBe('my.run~critic:2.writer@3');
    expect(agentOfChildRun(id)).toBe('writer');
    expect(agentOfChildRun('my.run~critic:2')).toBe('critic');
    expect(isAnyRunId(id)).toBe(true);
    expect(isRunId(id)).toBe(false);
    expect(isAnyRunId('my.run')).toBe(true);
    expect([isAnyRunId('~a'), isAnyRunId('a~'), isAnyRunId('a~b/c'), isAnyRunId('a~b~')]).toEqual([false, false, false, false]);
  });

  it('stays short and readable by everybody, however deep the agent is', () => {
    const long = Array.from({ length: 12 }, (_, n) => `agent_with_a_long_name_${n}`.padEnd(64, 'x'));
    let id = 'r'.repeat(200);
    const seen = new Set<string>();
    for (let depth = 0; depth < 20; depth++) {
      id = childRunId(id, ['root', ...long]);
      expect(id.length).toBeLessThanOrEqual(360);
      expect(isAnyRunId(id)).toBe(true);
      expect(agentOfChildRun(id)).toBe(long.at(-1));
      expect(seen.has(id)).toBe(false);
      seen.add(id);
    }
    expect(childRunId('a', ['r', ...long, 'x'])).not.toBe(childRunId('a', ['r', ...long, 'y']));
  });
});

describe('a workflow of an isolated agent without a result', () => {
  const closed = (cause: Error): ChildWorkflowFailure =>
    new ChildWorkflowFailure('default', { workflowId: 'default/x~first' }, 'agentRun', 'NON_RETRYABLE_FAILURE', cause);

  it('that ran out of time or was ended by somebody is a failure with a code', () => {
    const codes = [
      new TimeoutFailure('late', undefined, 'START_TO_CLOSE'),
      new TerminatedFailure('gone'),
      new CancelledFailure('stop'),
      ApplicationFailure.create({ message: 'No.', type: 'max-iterations' }),
      ApplicationFailure.create({ message: 'No.', type: 'cancelled' }),
      ApplicationFailure.create({ message: 'No.', type: 'SomeError' }),
    ].map((cause) => (endOfFailed(closed(cause)) as { failed: { code: string } }).failed.code);
    expect(codes).toEqual(['run-timed-out', 'run-terminated', 'child-cancelled', 'max-iterations', 'child-cancelled', 'run-failed']);
  });

  it('brings along what it has used and set', () => {
    const cause = ApplicationFailure.create({ message: 'No.', type: 'max-iterations', details: [{ usage, session: { who: 'first' } }] });
    expect(endOfFailed(closed(cause))).toEqual({ usage, session: { who: 'first' }, failed: { code: 'max-iterations', message: 'No.' } });
  });
});

it('what isolated agents have used is counted by model, also that of agents inside of them', async () => {
  const inner = isolated(member('first'), member('second'));
  const { run } = await play(parallel({ name: 'whole', isolate: true, agents: [inner] }), { first: [says('1')], second: [says('2')] });
  expect(typed(await logOf(run), 'agent-end').map(({ usageByModel: used }) => used)).toEqual([
    { 'test/first': usage, 'test/second': usage },
  ]);
});
