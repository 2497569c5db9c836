import type { ScriptedModel } from '../../testing/index';
import { scriptedModel } from '../../testing/index';
import type { Outcome } from '../../client/reading/outcome';
import type { Json } from '../../workflows/index';
import { gate } from '../support/gate';
import { echo, only } from '../support/memory-bed';
import * as agents from './callback-agents';
import type { Engine, Played } from './engines';
import { closeEngines, onEngines } from './engines';
import { holder } from './tools';

afterAll(closeEngines);

type Agent = Parameters<Engine['play']>[0];

const calling = (...toolCalls: readonly { readonly name: string; readonly input: Json; readonly id?: string }[]) =>
  scriptedModel([{ toolCalls }, { text: 'Done.' }]);
const says = (name: string, text: string) => ({ name, input: { text } });
const play = (engine: Engine, agent: Agent, model: ScriptedModel): Promise<Played> => engine.play(agent, { model });
const rejected = (feedback: string): Json => ({ type: 'reject', feedback });

const firstResult = async (run: Played): Promise<string | undefined> => (await run.transcript())[2];

describe('around a tool', () => {
  onEngines('[trpc 16] arguments that are assigned are seen by the next callback, and by the tool', async (engine) => {
    const run = await play(engine, agents.assignsArguments, calling(echo('x')));
    expect(await firstResult(run)).toBe('tool: assigned');
    expect(await run.notes()).toEqual([{ text: 'assigned' }]);
  });

  onEngines('[trpc 61] one message of another role follows the result, and of several the tool message is the result', async (engine) => {
    const one = await play(engine, agents.followsUp, calling(echo('x')));
    expect((await one.transcript()).slice(2, 4)).toEqual(['tool: x', 'user: Look at this.']);
    const model = calling(echo('x'));
    const several = await play(engine, agents.shapesAndFollowsUp, model);
    expect((await several.transcript()).slice(2, 4)).toEqual(['tool: shaped', 'user: Look at this.']);
    const shaped = model.requests[1]?.messages.find(({ role }) => role === 'tool')?.parts[0];
    expect(shaped).toMatchObject({ type: 'tool-result', name: 'echo', callId: 'call-1-1' });
  });

  onEngines('[trpc 62] an error and a panic of the messages go back to the model', async (engine) => {
    for (const agent of [agents.failsShaping, agents.panicsShaping]) {
      const run = await play(engine, agent, calling(echo('x')));
      expect(await run.outcome()).toMatchObject({ status: 'completed' });
      expect(await firstResult(run)).toMatch(/^tool: error tool callback error: .*odd$/);
    }
  });

  onEngines('[trpc 66] arguments that are nearly JSON are repaired by toolArguments, and by nothing else', async (engine) => {
    const call = { name: 'add', input: '{a:2}' };
    expect(await firstResult(await play(engine, agents.repairsArguments, calling(call)))).toBe('tool: {"sum":3}');
    expect(await firstResult(await play(engine, agents.repairsNothing, calling(call)))).toMatch(/^tool: error The arguments/);
  });

  onEngines('[trpc 68] a custom result after a failed tool takes the place of its error', async (engine) => {
    const run = await play(engine, agents.forgives, calling({ name: 'fail', input: {} }));
    expect(await firstResult(run)).toBe('tool: forgiven');
    const end = (await run.log()).find(({ type }) => type === 'tool-end');
    expect(end).not.toHaveProperty('error');
  });

  onEngines('[trpc 69] a StopError of a tool stays one beside a custom result', async (engine) => {
    const run = await play(engine, agents.forgivesStops, calling(says('stops', 'now')));
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'stopped', message: 'stop here' } });
  });

  onEngines('[trpc 71] a decision is about the arguments that a callback rewrote, and a rejected call does not run', async (engine) => {
    const run = await play(engine, agents.asksAboutRewritten, calling(echo('x')));
    const { id, ...asked } = only(await run.waiting(1));
    expect(asked).toMatchObject({ tool: 'echo', input: { text: 'rewritten' } });
    await run.resume(id, rejected('Too loud.'));
    expect(await firstResult(run)).toMatch(/^tool: A human rejected the call of 'echo'\. It did not run\. They said: Too loud\./);
    expect(await run.lines()).not.toContain('tool-start echo');
  });

  onEngines('[trpc 72] a call that is rejected before the callbacks makes no messages, no state and no flags', async (engine) => {
    const run = await play(engine, agents.deniesBeforeCallbacks, calling(echo('x')));
    await run.resume(only(await run.waiting(1)).id, rejected('No.'));
    expect((await run.transcript()).slice(2)).toEqual([expect.stringContaining('A human rejected'), 'assistant: Done.']);
    expect(await run.notes()).toEqual([['state', null]]);
  });

  onEngines('[trpc 72] callbacks that lie around the decision see a rejection as the result', async (engine) => {
    const run = await play(engine, agents.deniesBehindCallbacks, calling(echo('x')));
    await run.resume(only(await run.waiting(1)).id, rejected('No.'));
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: expect.stringContaining('A human rejected') });
    expect(await run.notes()).toEqual(['before', 'after', 'messages', ['state', true]]);
  });

  onEngines('[trpc 73] while a check asks, and when it was told no, the policy behind it is not asked', async (engine) => {
    const run = await play(engine, agents.checksThenPolicy, scriptedModel([{ toolCalls: [echo('x'), echo('y')] }, { text: 'Done.' }]));
    const [first, second] = await run.waiting(2);
    expect(await run.notes()).toEqual([]);
    await run.resume(first?.id ?? '', rejected('No.'));
    expect(await run.notes()).toEqual([]);
    await run.resume(second?.id ?? '', { type: 'approve' });
    expect((await run.transcript()).slice(2, 4)).toEqual([expect.stringContaining('A human rejected'), 'tool: y']);
    expect(await run.notes()).toEqual(['policy']);
  });

  onEngines('[trpc 74] callbacks run once around all attempts of a tool', async (engine) => {
    const run = await play(engine, agents.countsCallbacks, calling({ name: 'flaky', input: {} }));
    expect(await firstResult(run)).toBe('tool: fine at attempt 2');
    expect(await run.notes()).toEqual(['before', 'after']);
  });

  onEngines('[trpc 84] an unknown tool that is nearly the name of one gets a suggestion, a distant one none', async (engine) => {
    const run = await play(engine, agents.stopped, calling(says('ecko', ''), says('totally_missing', '')));
    expect((await run.transcript()).slice(2, 5)).toEqual([
      'tool: error The model called tool \'ecko\', which this agent does not have; did you mean "echo"? It has: echo, pays, asks, stops.',
      "tool: error The model called tool 'totally_missing', which this agent does not have. It has: echo, pays, asks, stops.",
      'assistant: Done.',
    ]);
  });
});

describe('a StopError', () => {
  const stop = { status: 'failed', error: { code: 'stopped', message: 'stop here' } };

  onEngines('[trpc 76] of a tool ends the run, and its call has no result', async (engine) => {
    const run = await play(engine, agents.stopped, calling(says('stops', 'now')));
    expect(await run.outcome()).toMatchObject(stop);
    expect(await run.lines()).toEqual(['run-start', 'model-start', 'model-end', 'tool-start stops', 'run-end']);
  });

  async function stopBeside(engine: Engine, tool: string): Promise<{ readonly run: Played; readonly goOn: () => void }> {
    const [slow, stopping] = [gate(), gate()];
    const keys = ['slow', 'stop'].map((name) => `${engine.name} ${tool} ${name}`);
    holder.hold(keys[0] ?? '', slow);
    holder.hold(keys[1] ?? '', stopping);
    const run = await play(engine, agents.stopped, calling(says(tool, keys[0] ?? ''), says('stops', keys[1] ?? '')));
    await Promise.all([slow.reached, stopping.reached]);
    stopping.open();
    return { run, goOn: slow.open };
  }

  onEngines('[trpc 77] of one call ends the run without waiting for a slow one beside it', async (engine) => {
    const { run, goOn } = await stopBeside(engine, 'echo');
    expect(await run.outcome()).toEqual(stop);
    expect((await run.lines()).filter((line) => line.startsWith('tool-end'))).toEqual([]);
    goOn();
  });

  onEngines('[trpc 77] of one call waits for a call beside it that may be made once only, and keeps its result', async (engine) => {
    const { run, goOn } = await stopBeside(engine, 'pays');
    const ended = run.outcome();
    goOn();
    expect(await ended).toEqual(stop);
    expect((await run.lines()).slice(-2)).toEqual(['tool-end pays', 'run-end']);
  });

  onEngines('[trpc 77] of one call leaves nobody to be asked', async (engine) => {
    const key = `${engine.name} asked`;
    const stopping = gate();
    holder.hold(key, stopping);
    const run = await play(engine, agents.stopped, calling(says('asks', 'Go on?'), says('stops', key)));
    await run.reached('interrupt-start');
    stopping.open();
    await stopping.reached;
    let outcome: Outcome<unknown>;
    do outcome = await run.outcome();
    while (outcome.status === 'waiting');
    expect(outcome).toEqual(stop);
    expect((await run.log()).find(({ type }) => type === 'interrupt-end')).toMatchObject({ reason: 'cancel' });
  });

  onEngines(
    '[trpc 77] of a callback takes the other calls with it; what a hook calls behind it does not change how the run ends',
    async (engine) => {
      const slow = gate();
      const key = `${engine.name} callback`;
      holder.hold(key, slow);
      const run = await play(engine, agents.stopsBeforeTool, calling(echo(key), { name: 'fail', input: {} }));
      expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'stopped' } });
      slow.open();
    },
  );

  onEngines('[trpc 77] of a call in a sequence leaves the calls behind it unmade', async (engine) => {
    const run = await play(engine, agents.stoppedInTurn, calling(echo('a'), says('stops', 'now'), echo('b')));
    expect(await run.outcome()).toEqual(stop);
    expect((await run.lines()).filter((line) => line.startsWith('tool-'))).toEqual([
      'tool-start echo',
      'tool-end echo',
      'tool-start stops',
    ]);
  });
});

describe('an extension', () => {
  onEngines('[trpc 92] comes behind the callbacks of the user, and its messages win', async (engine) => {
    const run = await play(engine, agents.extended, calling(echo('x')));
    expect((await run.transcript()).slice(2, 4)).toEqual(['tool: x', 'user: extension']);
    expect(await run.notes()).toEqual(['user', 'extension']);
  });
});

describe('with toolErrors fail, as in a graph', () => {
  onEngines('[trpc 94] callbacks around a tool may answer, fail the run and replace', async (engine) => {
    expect(await firstResult(await play(engine, agents.decidesByText, calling(echo('answer'))))).toBe('tool: custom');
    expect(await firstResult(await play(engine, agents.decidesByText, calling(echo('replace'))))).toBe('tool: overridden');
    expect(await (await play(engine, agents.decidesByText, calling(echo('fail')))).outcome()).toEqual({
      status: 'failed',
      error: { code: 'callback-failed', message: 'tool callback error: no' },
    });
  });
});
