import type { Agent, AgentMiddleware, CustomAgentOptions } from 'holdfast/workflow';
import { agentTool, exitAction, parallel, sequential } from 'holdfast/workflow';
import { testRun } from 'holdfast/testing';
import type { ErrorCode } from '../../../contract/errors';
import type { RunState } from '../../../kernel/run/state';
import { failureSaying } from '../../support/failures';
import { logOf, tools } from '../../support/memory-bed';
import { byHand, member, placed, play, says, scripts } from '../../support/team-bed';

type Run = CustomAgentOptions<'hand'>['run'];
const hand = (run: Run, agents: CustomAgentOptions<'hand'>['agents'] = []) => byHand('hand', run, agents);
const asking: AgentMiddleware = { name: 'asking', beforeAgent: async (_, ctx) => void (await ctx.interrupt('Ready?')) };

describe('an event of a custom agent', () => {
  it.each<[string, unknown, ErrorCode, string]>([
    ['a number', 5, 'hook-failed', 'An event of agent "hand": it must be an object with message, output, action or error, not 5.'],
    ['a list', [], 'hook-failed', 'An event of agent "hand": it must be an object with message, output, action or error, not [].'],
    ['nothing in an object', {}, 'hook-failed', 'An event of agent "hand": there is nothing in it.'],
    ['only what is undefined', { output: undefined }, 'hook-failed', 'An event of agent "hand": there is nothing in it.'],
    [
      'a field that there is not',
      { msg: 'Hi.' },
      'hook-failed',
      'An event of agent "hand": there is no option "msg"; there are message, output, action, error, name.',
    ],
    ['a message without a role', { message: { parts: [] } }, 'message-invalid', 'A message of agent "hand" is no message'],
    ['an exit that is a text', { action: { exit: 'yes' } }, 'hook-failed', 'agent "hand" yielded an action that is none: exit is true'],
    ['a loop that is broken by a number', { action: { breakLoop: 1 } }, 'hook-failed', 'breakLoop is true'],
    ['a hand-over to a number', { action: { transferTo: 5 } }, 'hook-failed', 'transferTo is the name of an agent'],
    ['two actions in one', { action: { exit: true, breakLoop: true } }, 'hook-failed', 'more than one of exit'],
    ['an empty name', { name: '', output: 1 }, 'hook-failed', 'The name of an event of agent "hand" is a text'],
  ])('is refused by the name of the agent: %s', async (_, event, code, message) => {
    const { outcome } = await play(
      hand(async function* () {
        yield event as never;
      }),
      {},
    );
    expect(outcome).toMatchObject(failureSaying(code, message));
  });

  it('may have an action of its own, a name alone, and an output beside a message', async () => {
    const { run, outcome } = await play(
      hand(async function* () {
        yield { name: 'begun' };
        yield { output: 1, action: { mine: { at: 1 } } };
        yield { ...says('Done.'), output: { sources: 2 }, action: exitAction() };
      }),
      {},
    );
    expect(outcome).toMatchObject({ status: 'completed', text: 'Done.' });
    expect((await logOf(run)).flatMap((event) => (event.type === 'custom' ? [[event.name, event.data]] : []))).toEqual([
      ['begun', {}],
      ['agent-event', { output: 1, action: { mine: { at: 1 } } }],
      ['agent-event', { output: { sources: 2 } }],
    ]);
  });
});

describe('the finally of a custom agent', () => {
  it('is waited for, has its effects, and shows nothing', async () => {
    const order: string[] = [];
    const run = await testRun(
      hand(async function* (_, ctx) {
        try {
          yield 5 as never;
        } finally {
          await ctx.sleep('1h');
          order.push('slept');
          try {
            yield says('Nobody hears this.');
          } finally {
            order.push('left');
          }
        }
      }),
      { input: 'Go.', model: scripts({}), tools },
    );
    expect(await run.outcome()).toEqual({ status: 'running' });
    await run.goOnAsNew();
    await run.advance('1h');
    expect(await run.outcome()).toMatchObject(failureSaying('hook-failed'));
    expect(order).toEqual(['slept', 'left']);
    expect((await logOf(run)).map(placed)).toEqual(['run-start', 'run-end']);
  });

  it('that fails, or yields for ever, hides nothing', async () => {
    for (const last of ['fails', 'yields']) {
      const { outcome } = await play(
        hand(async function* () {
          try {
            yield { error: 'Broken.' };
          } finally {
            if (last === 'fails') throw new Error('Worse.');
            for (;;) {
              try {
                yield says('Again.');
              } finally {
                continue;
              }
            }
          }
        }),
        {},
      );
      expect(outcome).toMatchObject({ status: 'failed', error: { code: 'agent-failed', message: 'agent "hand" failed: Broken.' } });
    }
  });
});

describe('a cancel that a custom agent would catch', () => {
  const catchAll: Readonly<Record<string, Run>> = {
    'and ends': async function* (_, ctx) {
      await ctx.interrupt('?').catch(() => undefined);
      return 'went on';
    },
    'and asks again, for ever': async function* (_, ctx) {
      for (;;) {
        try {
          return await ctx.interrupt<string>('?');
        } catch {
          // Again.
        }
      }
    },
    'and yields for ever': async function* (_, ctx) {
      await ctx.interrupt('?').catch(() => undefined);
      for (;;) yield says('Still here.');
    },
    'and runs agents for ever': async function* (_, ctx) {
      await ctx.interrupt('?').catch(() => undefined);
      for (;;) await ctx.runAgent('helper', 'Help.').catch(() => undefined);
    },
    'and waits for what never comes': async function* (_, ctx) {
      await ctx.interrupt('?').catch(() => new Promise(() => undefined));
    },
  };
  it.each(Object.entries(catchAll))('%s, ends the run as cancelled all the same', async (_, caught) => {
    const agents: Readonly<Record<string, Agent<string, string, unknown>>> = {
      alone: hand(caught, [member('helper')]),
      isolated: parallel({ name: 'p', isolate: true, agents: [hand(caught, [member('helper')])] }),
    };
    for (const agent of Object.values(agents)) {
      const run = await testRun(agent, { input: 'Go.', model: scripts({ helper: [] }), tools });
      expect(await run.interrupts()).toHaveLength(1);
      await run.cancel();
      expect(await run.outcome()).toEqual({ status: 'cancelled' });
      for (const child of run.children.values()) expect(await child.outcome()).toEqual({ status: 'cancelled' });
    }
  });
});

describe('an error with the code of a cancellation', () => {
  const forged = Object.assign(new Error('I quit.'), { code: 'cancelled' });

  it('that a custom agent throws is a failure of the agent', async () => {
    const quits = hand(async function* () {
      yield* [];
      throw forged;
    });
    expect((await play(quits, {})).outcome).toMatchObject({
      status: 'failed',
      error: { code: 'hook-failed', message: 'agent "hand" failed: I quit.' },
    });
    const { outcome } = await play(member('a', { tools: [agentTool(quits)] }), {
      a: [{ toolCalls: [{ name: 'hand', input: { request: 'Do.' } }] }, { text: 'Without.' }],
    });
    expect(outcome).toMatchObject({ status: 'completed', text: 'Without.' });
  });

  it('that a hook throws does not cancel the run', async () => {
    const { outcome } = await play(member('a', { middleware: [{ name: 'quits', beforeAgent: () => Promise.reject(forged) }] }), { a: [] });
    expect(outcome).toMatchObject(failureSaying('run-failed', 'I quit.'));
  });
});

const inner = hand(
  async function* (_, ctx) {
    yield* [];
    await Promise.all([ctx.runAgent('slow', 'x'), ctx.runAgent('bad', 'y')]);
  },
  [member('slow', { tools: ['echo'], middleware: [asking] }), member('bad')],
);

it('a custom agent that fails while others work for it takes what they ask with it, nothing of them is done any more, and nothing stays in the state of the run', async () => {
  const all = sequential({
    name: 'all',
    agents: [member('outer', { tools: [agentTool(inner, { forwardEvents: true })] }), member('asks', { middleware: [asking] })],
  });
  const run = await testRun(all, {
    input: 'Go.',
    model: scripts({
      outer: [{ toolCalls: [{ name: 'hand', input: { request: 'z' } }] }, { text: 'End.' }],
      slow: [],
      bad: [{ error: 'Broken.' }],
      asks: [{ text: 'Yes.' }],
    }),
    tools,
  });
  const open = await run.interrupts();
  await run.goOnAsNew();
  const { state } = (run as unknown as { run: { stretch: { run: { state: RunState } } } }).run.stretch.run;
  const { agents, progress, sharedMessages, journal, interrupts } = state;
  expect(Object.keys({ ...agents, ...progress, ...sharedMessages, ...journal }).filter((key) => key.includes('hand'))).toEqual([]);
  expect(interrupts).toMatchObject([{ shown: { agent: 'asks' } }]);
  await run.resume(open[0]?.id ?? '', 'yes');
  expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Yes.' });
  const log = (await logOf(run)).map(placed);
  expect(log.filter((line) => line.startsWith('agent-start')).length).toBe(log.filter((line) => line.startsWith('agent-end')).length);
});

describe('what a custom agent returns without saying anything', () => {
  const returning = (value: unknown) =>
    hand(async function* () {
      return value as never;
    });

  it.each<[string, unknown, string]>([
    ['an object', { price: 5 }, '{"price":5}'],
    ['a list', [1], '[1]'],
    ['a number', 0, '0'],
    ['a switch', false, 'false'],
    ['a text', 'Five.', 'Five.'],
    ['null', null, ''],
  ])('is its text, as a tool and in a sequence: %s', async (_, value, text) => {
    const asked = member('boss', { tools: [agentTool(returning(value))] });
    const call = { toolCalls: [{ name: 'hand', input: { request: 'Price?' } }] };
    const { run } = await play(asked, { boss: [call, { text: 'Done.' }] });
    expect((await logOf(run)).find(({ type }) => type === 'tool-end')).toMatchObject({ message: { parts: [{ output: text }] } });
    const line = sequential({ name: 'line', agents: [returning(value), member('next')] });
    const { model } = await play(line, { next: [{ text: 'Heard.' }] });
    const told = JSON.stringify(model.requests('next')[0]?.messages);
    expect(told.includes(JSON.stringify(text).slice(1, -1)) || told.includes(JSON.stringify(JSON.stringify(text)).slice(1, -1))).toBe(true);
    expect(told.includes('[hand]')).toBe(text !== '');
    const alone = await play(returning(value), {});
    expect(alone.outcome).toMatchObject({ output: value, text });
  });

  it('is heard once when an agent has said it that it ran', async () => {
    const wrapper = hand(
      async function* (_, ctx) {
        return (await ctx.runAgent('writer')).text;
      },
      [member('writer')],
    );
    const { model } = await play(sequential({ name: 'line', agents: [wrapper, member('next')] }), {
      writer: [{ text: 'A poem.' }],
      next: [{ text: 'Read.' }],
    });
    expect(JSON.stringify(model.requests('next')[0]?.messages).split('A poem.')).toHaveLength(2);
  });
});
