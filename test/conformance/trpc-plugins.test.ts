import type { Json, Message } from 'holdfast/workflow';
import type { Plugin } from 'holdfast/callbacks';
import { callbacks } from 'holdfast/callbacks';
import { scriptedModel } from '../../testing/index';
import { failure } from '../support/failures';
import { echo } from '../support/memory-bed';
import { asksAroundSequence, failsBeforeAgent, failsBeforeLoop, failsBeforeParallel, failsBeforeSequence } from './callback-agents';
import type { Engine, Played } from './engines';
import { closeEngines, onEngines } from './engines';
import * as agents from './plugin-agents';

/** Callbacks that must not run would note `own`. */

afterAll(closeEngines);

type Agent = Parameters<Engine['play']>[0];

const done = () => scriptedModel([{ text: 'Done.' }]);
const twoTurns = () => scriptedModel([{ toolCalls: [echo('x')] }, { text: 'Done.' }]);
const play = (engine: Engine, agent: Agent, model = scriptedModel([])): Promise<Played> => engine.play(agent, { model });

const firstResult = async (run: Played): Promise<string | undefined> => (await run.transcript())[2];

onEngines('[trpc 31] beforeAgent answers in place of the agent, with one event', async (engine) => {
  const run = await play(engine, agents.closed);
  expect(await run.outcome()).toMatchObject({ text: 'Closed.' });
  expect(await run.lines()).toEqual(['run-start', 'model-end', 'run-end']);
});

onEngines('[trpc 32] afterAgent appends an event behind those of the agent', async (engine) => {
  const run = await play(engine, agents.appends, done());
  expect((await run.transcript()).slice(1)).toEqual(['assistant: Done.', 'assistant: Appended.']);
  expect(await run.lines()).toEqual(['run-start', 'model-start', 'model-end', 'model-end', 'run-end']);
});

onEngines('[trpc 33] an error of afterAgent comes behind the answer', async (engine) => {
  const run = await play(engine, agents.failsLate, done());
  expect(await run.outcome()).toEqual({
    status: 'failed',
    error: { code: 'callback-failed', message: 'after agent callback failed: p: late' },
  });
  expect(await run.lines()).toEqual(['run-start', 'model-start', 'model-end', 'run-end']);
});

onEngines('[trpc 34] afterAgent is told the type and the text of an error', async (engine) => {
  const run = await play(engine, agents.watchesFailures, scriptedModel([{ error: 'boom' }]));
  expect(await run.notes()).toEqual([expect.stringMatching(/^model-failed: .*boom/)]);
});

it.each<[string, readonly unknown[]]>([
  ['a name twice', [{ name: 'p' }, { name: 'p' }]],
  ['nothing', [null]],
  ['an empty name', [{ name: '' }]],
])('[trpc 37] %s is refused', (_, plugins) => {
  expect(() => callbacks({ plugins: plugins as readonly Plugin[] })).toThrow(/plugin/);
});

onEngines('[trpc 38] plugins run in order, and one that answers spares the next', async (engine) => {
  expect(await (await play(engine, agents.inOrder, done())).notes()).toEqual(['p1', 'p2']);
  const run = await play(engine, agents.firstAnswers);
  expect(await run.outcome()).toMatchObject({ text: 'Mine.' });
  expect(await run.notes()).toEqual(['p1']);
});

onEngines('[trpc 39] an error of a plugin has its name, whatever the place', async (engine) => {
  for (const place of ['beforeAgent', 'afterAgent', 'beforeModel', 'afterModel', 'beforeTool', 'afterTool', 'afterToolMessages'] as const) {
    const run = await play(engine, agents[`${place}Fails`], twoTurns());
    const outcome = await run.outcome();
    const text = outcome.status === 'failed' ? outcome.error.message : await firstResult(run);
    expect(text).toMatch(place === 'afterToolMessages' ? /^plugin "the-plugin": odd$/ : /the-plugin: odd$/);
  }
});

describe('messages in place of tool messages', () => {
  const message = (callId: string, output = 'replaced'): Message => ({
    role: 'tool',
    parts: [{ type: 'tool-result', callId, name: 'echo', output }],
  });
  const replacing = (engine: Engine, messages: unknown): Promise<Played> => {
    const toolCalls = ['1', '2'].map((id) => ({ ...echo(id), id }));
    const model = scriptedModel([{ toolCalls }, { text: 'Done.' }]);
    return engine.play(agents.replacesMessages, { model, values: { messages: messages as Json } });
  };

  onEngines('[trpc 41] messages in place of tool messages are refused when they do not answer the calls', async (engine) => {
    const wrong: readonly (readonly [unknown, RegExp])[] = [
      [[message('1')], /has 1 messages in place of 2/],
      [[message('1'), { role: 'user', parts: [] }], /of the role "user", not tool/],
      [[message('1'), message('1')], /has the tool call id "1" twice/],
      [[message('1'), { role: 'tool', parts: [] }], /has no tool call id/],
      [[message('1'), message('3')], /has the unknown tool call id "3"/],
      ['x', /is no list of messages/],
    ];
    for (const [said, problem] of wrong) {
      const outcome = await (await replacing(engine, said)).outcome();
      expect(outcome).toMatchObject(failure('callback-failed', problem));
      expect(outcome).toMatchObject({ error: { message: expect.stringMatching(/^plugin "p": /) } });
    }
  });

  onEngines('[trpc 41] messages in place of tool messages are put in the order of the calls', async (engine) => {
    const run = await replacing(engine, [message('2', 'second'), message('1', 'first')]);
    expect((await run.transcript()).slice(2, 4)).toEqual(['tool: first', 'tool: second']);
  });
});

onEngines('[trpc 51] a plugin that answers before the model, or fails, spares the callbacks of the agent and the model', async (engine) => {
  const answered = await play(engine, agents.answersBeforeModel);
  expect(await answered.outcome()).toMatchObject({ status: 'completed', text: 'Mine.' });
  const refused = await play(engine, agents.refusesModel);
  expect(await refused.outcome()).toMatchObject({ status: 'failed', error: { message: 'before model callback failed: p: no' } });
  expect([...(await answered.notes()), ...(await refused.notes())]).toEqual([]);
});

onEngines('[trpc 52] a plugin that answers after the model spares the callbacks of the agent; its values reach them', async (engine) => {
  const answered = await play(engine, agents.answersAfterModel, done());
  expect(await answered.outcome()).toMatchObject({ text: 'Mine.' });
  expect(await answered.notes()).toEqual([]);
  const handedOn = await play(engine, agents.handsOnAfterModel, done());
  expect(await handedOn.outcome()).toMatchObject({ text: 'Done.' });
  expect(await handedOn.notes()).toEqual(['from the plugin']);
});

onEngines('[trpc 63] a plugin that answers before a tool spares the tool and the callbacks of the agent', async (engine) => {
  const run = await play(engine, agents.answersBeforeTool, twoTurns());
  expect(await firstResult(run)).toBe('tool: mine');
  expect(await run.lines()).not.toContain('tool-start echo');
  expect(await run.notes()).toEqual([]);
});

onEngines('[trpc 64] a plugin that fails before a tool spares the tool and the callbacks of the agent', async (engine) => {
  const run = await play(engine, agents.refusesTool, twoTurns());
  expect(await firstResult(run)).toBe('tool: error tool callback error: p: no');
  expect(await run.lines()).not.toContain('tool-start echo');
  expect(await run.notes()).toEqual([]);
});

onEngines('[trpc 67] a custom result of a plugin after a tool counts, and spares the callbacks of the agent', async (engine) => {
  for (const call of [echo('x'), { name: 'fail', input: {} }]) {
    const run = await play(engine, agents.answersAfterTool, scriptedModel([{ toolCalls: [call] }, { text: 'Done.' }]));
    expect(await firstResult(run)).toBe('tool: {"mine":true}');
    expect(await run.notes()).toEqual([]);
  }
});

onEngines('[trpc 67] a plugin that has only a beforeTool, or says nothing, hides no callback of the agent', async (engine) => {
  for (const agent of [agents.looksBeforeTool, agents.looksAfterTool])
    expect(await (await play(engine, agent, twoTurns())).notes()).toEqual(['own']);
});

onEngines('[trpc 136] an error before the agent, of a plugin too, fails the run before anything else', async (engine) => {
  for (const agent of [failsBeforeAgent, agents.failsInPlugin, failsBeforeSequence, failsBeforeParallel, failsBeforeLoop]) {
    const run = await play(engine, agent);
    expect(await run.outcome()).toMatchObject(failure('callback-failed', /^before agent callback failed: (p: )?no$/));
    expect(await run.lines()).toEqual(['run-start', 'run-end']);
  }
});

onEngines(
  '[trpc 88] callbacks of an agent that runs others wait before it and behind it, over a continue-as-new, and it runs once',
  async (engine) => {
    const run = await play(engine, asksAroundSequence, scriptedModel([{ text: 'Done.' }]));
    const answer = async (said: string): Promise<void> => {
      const [asked] = await run.waiting(1);
      await run.goOnAsNew();
      await run.resume(asked?.id ?? '', said);
    };
    await answer('Yes');
    await run.reached('model-end');
    await answer('no');
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect((await run.lines()).filter((line) => /model|message/.test(line))).toEqual(['model-start', 'model-end', 'agent-message']);
    expect((await run.transcript()).at(-1)).toBe('assistant: Yes, no.');
  },
);
