import { StopError, customAgent, loop, parallel, sequential, supervisor } from 'holdfast/workflow';
import { agentCallbacks, modelCallbacks } from 'holdfast/callbacks';
import type { Agent, AgentMiddleware } from 'holdfast/workflow';
import type { AgentCallbacks } from 'holdfast/callbacks';
import { testRun } from 'holdfast/testing';
import type { TestRun } from 'holdfast/testing';
import { textOf } from '../../../contract/messages/messages';
import { failureSaying } from '../../support/failures';
import { fails, logOf, tools } from '../../support/memory-bed';
import { byHand, member, scripts } from '../../support/team-bed';

const said = (...texts: readonly string[]) => texts.map((text) => ({ text }));
const words = { a: said('A.', 'A again.'), b: said('B.'), boss: said('Boss.') };

const noting = (): AgentCallbacks =>
  agentCallbacks()
    .registerBefore(({ invocation }) => {
      invocation.ctx?.sendEvent('before', { agent: invocation.agent, said: invocation.userMessage });
      return { values: { from: 'before' } };
    })
    .registerAfter(({ invocation, values, response, error }) => {
      const heard = response === undefined ? null : textOf(response);
      invocation.ctx?.sendEvent('after', { from: values['from'] ?? null, heard, error: error?.message ?? null });
    });

const groups: Readonly<Record<string, (callbacks: AgentCallbacks) => Agent>> = {
  sequential: (callbacks) => sequential({ name: 'group', agents: [member('a'), member('b')], callbacks }),
  loop: (callbacks) => loop({ name: 'group', agents: [member('a')], maxIterations: 2, callbacks }),
  parallel: (callbacks) => parallel({ name: 'group', agents: [member('a'), member('b')], callbacks }) as unknown as Agent,
  supervisor: (callbacks) => supervisor({ name: 'group', supervisor: member('boss'), agents: [member('a')], callbacks }),
  custom: (callbacks) =>
    customAgent({
      name: 'group',
      agents: [member('a')],
      callbacks,
      async *run(_, ctx) {
        yield { message: { role: 'assistant', parts: [{ type: 'text', text: 'By hand.' }] } };
        return (await ctx.runAgent('a')).text;
      },
    }),
};
const last: Readonly<Record<string, string>> = {
  sequential: 'B.',
  loop: 'A again.',
  parallel: 'a: A.\n\nb: B.',
  supervisor: 'Boss.',
  custom: 'By hand.',
};
const kinds = Object.keys(groups);

const start = (agent: Agent): Promise<TestRun> => testRun(agent, { input: 'Go.', model: scripts(words), tools });
const notesOf = async (run: TestRun): Promise<readonly unknown[]> =>
  (await logOf(run)).flatMap((event) => (event.type === 'custom' ? [[event.name, event.data]] : []));
const modelsAsked = async (run: TestRun): Promise<number> => (await logOf(run)).filter(({ type }) => type === 'model-start').length;
const saidBy = async (run: TestRun): Promise<readonly string[]> =>
  (await logOf(run)).flatMap((event) => (event.type === 'agent-message' && event.agent === 'group' ? [textOf(event.message)] : []));
const waiting = async (run: TestRun): Promise<string> => {
  const [first, ...others] = await run.interrupts();
  expect(others).toEqual([]);
  return first?.id ?? '';
};

describe.each(kinds)('callbacks of an agent that runs others: %s', (kind) => {
  const group = (callbacks: AgentCallbacks): Agent => groups[kind]!(callbacks);

  it('run once before it and once behind it, which has what they passed on and what was said last', async () => {
    const run = await start(group(noting()));
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(await notesOf(run)).toEqual([
      ['before', { agent: 'group', said: 'Go.' }],
      ['after', { from: 'before', heard: last[kind], error: null }],
    ]);
  });

  it('answer for it: no model is asked, and nothing behind it runs', async () => {
    const callbacks = noting().registerBefore(() => ({ customResponse: 'Not now.' }));
    const run = await start(group(callbacks));
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Not now.' });
    expect([await modelsAsked(run), (await notesOf(run)).length, await saidBy(run)]).toEqual([0, 1, ['Not now.']]);
  });

  it('say something behind it, and its answer stays the answer', async () => {
    const run = await start(group(agentCallbacks().registerAfter(() => ({ customResponse: 'Good night.' }))));
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: last[kind] });
    expect((await saidBy(run)).at(-1)).toBe('Good night.');
    expect(textOf((await run.transcript()).at(-1)!)).toBe('Good night.');
  });

  it('fail the run with the name of the place, before it and behind it, and stop it', async () => {
    const failing = fails('no');
    const before = await start(group(agentCallbacks().registerBefore(failing)));
    expect(await before.outcome()).toMatchObject({ error: { code: 'callback-failed', message: 'before agent callback failed: no' } });
    expect(await modelsAsked(before)).toBe(0);
    const after = await start(group(agentCallbacks().registerAfter(failing)));
    expect(await after.outcome()).toMatchObject({ error: { code: 'callback-failed', message: 'after agent callback failed: no' } });
    const stop = agentCallbacks().registerBefore(() => {
      throw new StopError('Enough.');
    });
    expect(await (await start(group(stop))).outcome()).toMatchObject({ error: { code: 'stopped', message: 'Enough.' } });
  });

  it('wait for people before it and behind it, and nothing runs twice however often the run goes on as new', async () => {
    const asks = noting()
      .registerBefore(async ({ invocation }) => void (await invocation.ctx?.interrupt('Begin?')))
      .registerAfter(async ({ invocation }) => ({ customResponse: String(await invocation.ctx?.interrupt('What else?')) }));
    const run = await start(group(asks));
    await run.goOnAsNew();
    expect(await modelsAsked(run)).toBe(0);
    await run.resume(await waiting(run), true);
    await run.outcome();
    await run.goOnAsNew();
    const asked = await modelsAsked(run);
    await run.goOnAsNew();
    await run.resume(await waiting(run), 'Nothing.');
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: last[kind] });
    expect([await modelsAsked(run), (await notesOf(run)).map((note) => (note as [string])[0])]).toEqual([asked, ['before', 'after']]);
    expect((await saidBy(run)).at(-1)).toBe('Nothing.');
  });
});

describe('callbacks of agents in agents', () => {
  it('see the failure of what runs inside, behind a continue-as-new, too', async () => {
    const asking = agentCallbacks().registerAfter(async ({ invocation, error }) => {
      await invocation.ctx?.interrupt('Seen?');
      invocation.ctx?.sendEvent('after', { error: error?.message ?? null });
    });
    const broken = byHand('broken', async function* () {
      yield { error: 'out of order' };
    });
    const run = await start(sequential({ name: 'outer', agents: [sequential({ name: 'inner', agents: [broken], callbacks: asking })] }));
    await run.goOnAsNew();
    await run.resume(await waiting(run), true);
    expect(await run.outcome()).toMatchObject(failureSaying('agent-failed', 'out of order'));
    expect(await notesOf(run)).toEqual([['after', { error: expect.stringMatching(/^agent-failed: .*out of order/) }]]);
  });

  it('run once for each time that their agent runs, and what they say is heard by those behind it', async () => {
    const inner = sequential({
      name: 'inner',
      agents: [member('a')],
      callbacks: noting().registerAfter(() => ({ customResponse: 'A note.' })),
    });
    const model = scripts(words);
    const run = await testRun(loop({ name: 'rounds', agents: [inner], maxIterations: 2 }), { input: 'Go.', model, tools });
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'A again.' });
    expect((await notesOf(run)).map((note) => (note as [string])[0])).toEqual(['before', 'after', 'before', 'after']);
    const asked = model.requests('a').at(-1)?.messages.map(textOf) ?? [];
    expect(asked.some((text) => text.includes('A note.'))).toBe(true);
  });

  it('are over when an agent inside waits, and the run goes on as new', async () => {
    const asking: AgentMiddleware = { name: 'asking', beforeAgent: async (_, ctx) => void (await ctx.interrupt('?')) };
    const inner = parallel({ name: 'inner', agents: [member('a', { middleware: [asking] }), member('b')], callbacks: noting() });
    const run = await start(sequential({ name: 'outer', agents: [inner], callbacks: noting() }));
    await run.goOnAsNew();
    await run.goOnAsNew();
    await run.resume(await waiting(run), true);
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect((await notesOf(run)).map((note) => (note as [string])[0])).toEqual(['before', 'before', 'after', 'after']);
    expect(await modelsAsked(run)).toBe(2);
  });

  it('are a set that is made for them, and not an empty one', () => {
    const agents = [member('a')];
    for (const callbacks of [modelCallbacks(), {}, null, [], agentCallbacks])
      expect(() => sequential({ name: 'group', agents, callbacks: callbacks as never })).toThrow(
        expect.objectContaining({
          code: 'agent-invalid',
          message: 'sequential "group": callbacks must be a set made with agentCallbacks.',
        }),
      );
    expect(() => sequential({ name: 'group', agents, callbacks: agentCallbacks() })).toThrow(
      'sequential "group": callbacks must have at least one callback; register one, or leave them out.',
    );
  });
});
