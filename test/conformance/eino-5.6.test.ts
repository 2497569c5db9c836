import type { CancelOptions } from '../../client/runs/cancel';
import type { Agent } from '../../kernel/define/agent-ref';
import type { Delta } from '../../contract/deltas';
import type { Json } from '../../contract/messages/messages';
import { scriptedModel } from '../../testing/index';
import type { ScriptedStep } from '../../testing/index';
import { gate } from '../support/gate';
import type { TeamModel } from '../support/team-bed';
import { teamModel, transfer } from '../support/team-bed';
import * as agents from './agents';
import * as cut from './cancel-agents';
import type { Engine, Played } from './engines';
import { closeEngines, onEngines } from './engines';
import { holder } from './tools';

/* Eino, cancel (5.6). Eino's handle is the receipt, the checkpoint the state kept at the end, the resume `run.resume()`. */

afterAll(closeEngines);

const echo = (text: string) => ({ name: 'echo', input: { text } });

function held(step: ScriptedStep): { readonly step: ScriptedStep; readonly asked: Promise<void>; open(): void } {
  const door = gate();
  return {
    step: async (...given) => (await door.pass(), typeof step === 'function' ? step(...given) : step),
    asked: door.reached,
    open: () => door.open(),
  };
}

async function linesWith(run: Played, ...types: readonly string[]): Promise<readonly string[]> {
  return (await run.lines()).filter((line) => types.includes(line.split(' ')[0] ?? ''));
}

const lastOf = async (run: Played): Promise<unknown> => (await run.log()).at(-1);

onEngines('[eino 139] a cancel before the start ends the run, and no tool is called', async (engine) => {
  const turn = held({ toolCalls: [echo('x')] });
  const run = await engine.play(agents.plain, { model: scriptedModel([turn.step]) });
  const receipt = await run.cancel({ reason: 'never mind', by: 'ada' });
  turn.open();
  expect(await run.outcome()).toEqual({ status: 'cancelled' });
  expect(await linesWith(run, 'tool-start')).toEqual([]);
  expect(await lastOf(run)).toMatchObject({ type: 'run-end', status: 'cancelled', mode: 'now', reason: 'never mind', by: 'ada' });
  expect(await receipt.settled()).toBe('in-time');
});

onEngines('[eino 141] a safe point that is not reached in time becomes a cancel at once, and says so', async (engine) => {
  const run = await engine.play(cut.sleeper, { model: scriptedModel([{ text: 'Done.' }]) });
  await run.reached('run-start');
  const receipt = await run.cancel({ mode: 'after-model', within: '100ms' });
  await run.letTimePass();
  expect(await receipt.settled()).toBe('escalated');
  expect(await lastOf(run)).toMatchObject({ status: 'cancelled', mode: 'now', escalated: true });
});

onEngines('[eino 142] a cancel after the model keeps its tool calls from running', async (engine) => {
  const turn = held({ toolCalls: [echo('x')], text: 'Looking.' });
  const model = scriptedModel([turn.step]);
  const run = await engine.play(agents.plain, { model });
  await turn.asked;
  await run.cancel({ mode: 'after-model' });
  turn.open();
  expect(await run.outcome()).toEqual({ status: 'cancelled' });
  expect((await run.lines()).slice(-3)).toEqual(['model-end', 'cancel-start', 'run-end']);
  expect(await linesWith(run, 'tool-start')).toEqual([]);
});

onEngines('[eino 143] a safe point that never comes tells that the run had ended', async (engine) => {
  const turn = held({ text: 'Done.' });
  const run = await engine.play(agents.plain, { model: scriptedModel([turn.step]) });
  await turn.asked;
  const receipt = await run.cancel({ mode: ['after-model', 'after-tools'] });
  turn.open();
  expect(await receipt.settled()).toBe('ended-first');
  expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
  await expect(run.cancel()).rejects.toMatchObject({ code: 'run-ended' });
});

onEngines('[eino 144] a cancel after tool calls waits for all of them', async (engine) => {
  const keys = ['a', 'b'].map((name) => `${engine.name} 144${name}`);
  const doors = keys.map((key) => {
    const door = gate();
    holder.hold(key, door);
    return door;
  });
  const model = scriptedModel([{ toolCalls: keys.map(echo) }, { text: 'Done.' }]);
  const run = await engine.play(agents.plain, { model });
  await Promise.all(doors.map(({ reached }) => reached));
  await run.cancel({ mode: 'after-tools' });
  for (const door of doors) door.open();
  expect(await run.outcome()).toEqual({ status: 'cancelled' });
  expect(await linesWith(run, 'tool-end', 'cancel-start')).toEqual(['tool-end echo', 'tool-end echo', 'cancel-start']);
  expect(model.requests).toHaveLength(1);
});

onEngines('[eino 146] a tool that streams is cut off, and its stream says so', async (engine) => {
  const key = `${engine.name} 146`;
  const door = gate();
  holder.hold(key, door);
  const deltas: string[] = [];
  const shown = gate();
  const onDelta = ({ type }: Delta): void => {
    deltas.push(type);
    if (type === 'tool-output-delta') void shown.pass();
  };
  const model = scriptedModel([{ toolCalls: [{ name: 'streams', input: { text: key } }] }]);
  const run = await engine.play(agents.plain, { model, stream: true, onDelta });
  await Promise.all([door.reached, shown.reached]);
  await run.cancel();
  expect(await run.outcome()).toEqual({ status: 'cancelled' });
  door.open();
  expect(await linesWith(run, 'tool-start', 'tool-end')).toEqual(['tool-start streams']);
  expect(deltas.at(-1)).toBe('attempt-void');
});

onEngines('[eino 147] what was cancelled can be gone on with at its places', async (engine) => {
  for (const options of [{}, { mode: 'after-tools' }] satisfies readonly CancelOptions[]) {
    const model = scriptedModel([{ toolCalls: [{ name: 'asks', input: { text: 'Which?' } }] }, { text: 'Done.' }]);
    const run = await engine.play(agents.plain, { model });
    const [before] = await run.waiting(1);
    await run.cancel(options);
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
    await run.goOn();
    const [interrupt] = await run.waiting(1);
    expect(interrupt).toEqual(before);
    await run.resume(interrupt?.id ?? '', 'this');
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(model.requests).toHaveLength(2);
  }
});

onEngines('[eino 148] after a cancel behind the model the tool runs without another call of the model', async (engine) => {
  const turn = held({ toolCalls: [echo('x')], text: 'Looking.' });
  const model = scriptedModel([turn.step, { text: 'Done.' }]);
  const run = await engine.play(agents.plain, { model });
  await turn.asked;
  await run.cancel({ mode: 'after-model' });
  turn.open();
  await run.outcome();
  const before = (await run.lines()).length;
  await run.goOn();
  expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
  expect((await run.lines()).slice(before)).toEqual([
    'run-resume',
    'tool-start echo',
    'tool-end echo',
    'model-start',
    'model-end',
    'run-end',
  ]);
  expect(await run.transcript()).toEqual(['user: Hi', 'assistant: Looking. echo({"text":"x"})', 'tool: x', 'assistant: Done.']);
  expect(model.requests).toHaveLength(2);
});

async function nested(engine: Engine, agent: Agent<string, Json, unknown>, names: { readonly outer: string; readonly inner: string }) {
  const turn = held({ toolCalls: [echo('x')] });
  const model = teamModel({
    [names.outer]: [{ toolCalls: [{ name: names.inner, input: { request: 'Go.' } }] }, { text: 'Done.' }],
    [names.inner]: [turn.step, { text: 'Inner.' }],
  });
  const run = await engine.play(agent, { model });
  await turn.asked;
  return { run, turn, counts: () => [model.requests(names.outer).length, model.requests(names.inner).length] };
}

const inside = { outer: 'cutOuter', inner: 'cutInner' };
const isolated = { outer: 'cutApart', inner: 'apart' };

onEngines(
  '[eino 149] with agents as tools the outer model is not called again; with a recursive cancel the inner one goes on first',
  async (engine) => {
    for (const [agent, names] of [
      [cut.cutOuter, inside],
      [cut.cutApart, isolated],
    ] as const) {
      for (const recursive of [true, false]) {
        const { run, turn, counts } = await nested(engine, agent, names);
        await run.cancel({ mode: ['after-model', 'after-tools'], recursive });
        if (recursive && names === isolated) await run.reachedBelow('cancel-request');
        turn.open();
        expect(await run.outcome()).toEqual({ status: 'cancelled' });
        // An agent outside the cancel runs to the end, and the caller stops after the tools.
        expect([names.inner, recursive, counts()]).toEqual([names.inner, recursive, recursive ? [1, 1] : [1, 2]]);
        await run.goOn();
        expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
        expect(counts()).toEqual([2, 2]);
      }
    }
  },
);

onEngines(
  '[eino 152] an agent inside of a tool of the run is torn down by a recursive cancel, and its model is asked anew',
  async (engine) => {
    const turn = held({ text: 'Lost.' });
    const model = embeddedModel(turn.step);
    const run = await engine.play(cut.embedding, { model });
    await turn.asked;
    await run.cancel({ reason: 'enough' });
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
    turn.open();
    expect(await linesWith(run, 'cancel-start', 'run-end', 'tool-end')).toEqual(['cancel-start', 'run-end']);
    await run.goOn();
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect([model.requests('embedding').length, model.requests('embedded').length]).toEqual([2, 2]);
  },
);

onEngines('[eino 153] an agent inside of a tool of the run is left alone by a cancel that is not recursive', async (engine) => {
  const turn = held({ text: 'Found.' });
  const model = embeddedModel(turn.step);
  const run = await engine.play(cut.embedding, { model });
  await turn.asked;
  const receipt = await run.cancel({ recursive: false });
  expect((await run.view()).status).toBe('running');
  turn.open();
  expect(await receipt.settled()).toBe('in-time');
  expect(await linesWith(run, 'cancel-start', 'run-end')).toEqual(['cancel-start', 'run-end']);
  await run.goOn();
  expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
  expect([model.requests('embedding').length, model.requests('embedded').length]).toEqual([2, 1]);
});

function embeddedModel(step: ScriptedStep): TeamModel {
  return teamModel({
    embedding: [{ toolCalls: [{ name: 'delegate', input: {} }] }, { text: 'Done.' }],
    embedded: [step, { text: 'Found.' }],
  });
}

onEngines('[eino 154] cancels are noticed between the agents of workflows and transfers', async (engine) => {
  const kinds: readonly [Agent<string, Json, unknown>, ScriptedStep, string, readonly string[]][] = [
    [cut.cutSequence, { text: '1.' }, 'seqOne', ['seqTwo']],
    [cut.cutLoop, { text: '1.' }, 'looped', ['looped']],
    [cut.cutParallel, { text: '1.' }, 'before', ['left', 'right']],
    [cut.cutTeam, transfer('taker'), 'cutTeam', ['taker']],
  ];
  for (const [agent, step, first, next] of kinds) {
    const turn = held(step);
    const said = Object.fromEntries(next.map((name) => [name, [{ text: 'A.' }, { text: 'B.' }]]));
    const model = teamModel({ ...said, [first]: [turn.step, { text: 'B.' }, { text: 'C.' }] });
    const run = await engine.play(agent, { model });
    await turn.asked;
    await run.cancel({ mode: 'after-tools', recursive: agent === cut.cutTeam });
    await run.reached('cancel-request');
    turn.open();
    expect([first, await run.outcome()]).toEqual([first, { status: 'cancelled' }]);
    for (const name of next) expect([name, model.requests(name).length]).toEqual([name, name === first ? 1 : 0]);
    await run.goOn();
    expect([first, (await run.outcome()).status]).toEqual([first, 'completed']);
    expect(model.requests(first).length).toBe(first === 'looped' ? 3 : 1);
  }
});

onEngines('[eino 156] several cancels join: at once wins, modes add up, and the earliest deadline counts', async (engine) => {
  const run = await engine.play(cut.sleeper, { model: scriptedModel([{ text: 'Done.' }]) });
  await run.reached('run-start');
  await run.cancel({ mode: 'after-model', within: '5m', by: 'ada' });
  const receipt = await run.cancel({ mode: 'after-tools', within: '100ms' });
  await run.reached('cancel-request');
  await run.letTimePass();
  expect(await receipt.settled()).toBe('escalated');
  expect((await run.log()).filter(({ type }) => type === 'cancel-request')).toMatchObject([{ by: 'ada' }, { modes: ['after-tools'] }]);

  const other = await engine.play(cut.sleeper, { model: scriptedModel([{ text: 'Done.' }]) });
  await other.reached('run-start');
  await other.cancel({ mode: 'after-model', within: '5m', by: 'ada' });
  await other.cancel({ mode: 'now', by: 'bob' });
  expect(await other.outcome()).toEqual({ status: 'cancelled' });
  expect(await lastOf(other)).toMatchObject({ mode: 'now', by: 'bob' });
  expect(await lastOf(other)).not.toHaveProperty('escalated');
});

onEngines('[eino 157] children know of a cancel only when it is, or becomes, recursive', async (engine) => {
  const { run, turn, counts } = await nested(engine, cut.cutApart, isolated);
  await run.cancel({ mode: 'after-model', recursive: false });
  await run.cancel({ mode: 'after-model' });
  await run.reachedBelow('cancel-request');
  turn.open();
  expect(await run.outcome()).toEqual({ status: 'cancelled' });
  expect(counts()).toEqual([1, 1]);
  await run.goOn();
  expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(counts()).toEqual([2, 2]);
});
