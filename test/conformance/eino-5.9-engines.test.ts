import type { LanguageModel } from '../../activities/models/language-model';
import type { Json, Message } from '../../contract/messages/messages';
import type { ScriptedModel, ScriptedStep } from '../../testing/index';
import { scriptedModel } from '../../testing/index';
import { called, result, said, system, user } from '../support/compaction-bed';
import type { Gate } from '../support/gate';
import { gate } from '../support/gate';
import { lineOf } from '../support/memory-bed';
import type { AskedOn } from './asked-on';
import { askedOn } from './asked-on';
import * as agents from './built-in-agents';
import { closeEngines, onEngines } from './engines';
import { holder, kept } from './tools';

afterAll(closeEngines);

const call = (name: string, input: Json, id?: string) => ({ toolCalls: [{ name, input, ...(id === undefined ? {} : { id }) }] });
const done: ScriptedStep = { text: 'Done.' };
const oneCall = (name: string, input: Json): { readonly steps: readonly ScriptedStep[] } => ({ steps: [call(name, input, 'c1'), done] });
const sums = (text = 'The sum.'): ScriptedModel => scriptedModel(Array.from({ length: 10 }, () => ({ text })));
const broken = (asked: string[], name: string): LanguageModel => ({
  generate: async () => {
    asked.push(name);
    throw new Error(`${name} is busy`);
  },
});
const failureOf = ({ outcome }: AskedOn): string =>
  'error' in outcome ? `${outcome.error.code}: ${outcome.error.message}` : outcome.status;
const three = [user('One'), said('Hm.'), user('Two')];

describe('messages that are put in or taken out', () => {
  onEngines('[eino 194] a call without a result gets the default text at its place, and keeps it', async (engine) => {
    const { lines, transcript } = await askedOn(engine, agents.patching, [
      user('Hi'),
      called('c1', 'c2'),
      result('c1', 'one'),
      user('Go on.'),
    ]);
    expect(lines.slice(1)).toEqual([
      'assistant: echo({"text":"c1 in"}) echo({"text":"c2 in"})',
      'tool: Tool call echo with id c2 was canceled - another message came in before it could be completed.',
      'tool: one',
      'user: Go on.',
    ]);
    expect(transcript).toEqual([...lines, 'assistant: Done.']);
  });

  onEngines('[eino 196] the text of a function stays, also in the agentic shape', async (engine) => {
    const { lines, run } = await askedOn(engine, agents.patchingByFunction, [user('Hi'), called('c1'), user('Never mind.')]);
    expect(lines.slice(2)).toEqual(['tool: echo c1 never ended.', 'user: Never mind.']);
    expect((await run.agentic())[2]).toMatchObject({ role: 'user', blocks: [{ type: 'function-tool-result', callId: 'c1' }] });
  });

  onEngines('[eino 222] files of instructions are read once, stand in one block, and are put in again where they went', async (engine) => {
    const steps = [call('echo', { text: 'x' }), call('echo', { text: 'y' }), done];
    const { requests, transcript, run } = await askedOn(engine, agents.instructedByFiles, [system('Be brief.'), user('Hi')], { steps });
    const told = requests.map(({ messages }) =>
      messages.map(lineOf).findIndex((line) => /Be kind\.[\s\S]*Be brief\.\n<\/system/.test(line)),
    );
    expect(told).toEqual([1, 1, 1]);
    expect(transcript.filter((line) => line.includes('Be kind.'))).toHaveLength(1);
    const warnings = (await run.log()).flatMap((event) => (event.type === 'custom' ? [event.data] : []));
    expect(warnings).toEqual([{ warning: '/gone.md not found' }]);
  });
});

describe('summaries', () => {
  onEngines(
    '[eino 197] under the threshold nothing is summarized; over it one message is left behind the system messages',
    async (engine) => {
      const short = await askedOn(engine, agents.summarized, three.slice(0, 2), { models: { sum: sums() } });
      expect(short.lines).toEqual(['user: One', 'assistant: Hm.']);
      const { lines, transcript, requests } = await askedOn(engine, agents.summarized, [system('A.'), system('B.'), ...three.slice(1)], {
        models: { sum: sums() },
      });
      expect(lines).toEqual(['system: A.', 'system: B.', expect.stringContaining('The sum.')]);
      expect(requests[0]?.messages[2]).toMatchObject({ role: 'user', extra: { summarization: 'summary' } });
      expect(transcript).toEqual([...lines, 'assistant: Done.']);
    },
  );

  onEngines('[eino 198] a summary is tried four times, then the run has failed', async (engine) => {
    const asked: string[] = [];
    const run = await askedOn(engine, agents.summarizedWithRetry, three, { models: { sum: broken(asked, 'sum') } });
    expect(asked).toHaveLength(4);
    expect(failureOf(run)).toMatch(/failed to generate summary: exceeds max retries: .*busy/);
    expect(run.requests).toHaveLength(0);
  });

  onEngines('[eino 199] other models are asked what was chosen for them, until there are no more', async (engine) => {
    const asked: string[] = [];
    const third = sums('Third.');
    const models = { sum: broken(asked, 'sum'), second: broken(asked, 'second'), third };
    const { lines } = await askedOn(engine, agents.summarizedByOthers, three, { models });
    expect(asked).toEqual(['sum', 'second']);
    expect(third.requests[0]?.messages.map(lineOf)).toEqual(['user: After model-failed.']);
    expect(lines).toEqual([expect.stringContaining('Third.')]);
    const failed = await askedOn(engine, agents.summarizedByOthers, three, { models: { ...models, third: broken(asked, 'third') } });
    expect(failureOf(failed)).toMatch(/failed to generate summary: exceeds max failover attempts: .*third is busy/);
  });

  onEngines('[eino 201] tokens are what the last answer reported, and an estimate of what came after it', async (engine) => {
    const asks = call('echo', { text: 'A result of some words.' });
    const steps = [{ ...asks, usage: { inputTokens: 60, outputTokens: 40 } }, done];
    const { run } = await askedOn(engine, agents.counting, 'Hi', { steps });
    expect(await run.notes()).toEqual([
      { tokens: 1, reported: null, newest: 1 },
      { tokens: 100 + 6, reported: 100, newest: 6 },
    ]);
  });

  onEngines("[eino 202] the user's own messages stand in the block of a summary", async (engine) => {
    const sum = sums('Sum. <all_user_messages>made up</all_user_messages>');
    const { lines } = await askedOn(engine, agents.summarized, three, { models: { sum } });
    expect(lines).toEqual([expect.stringContaining('Sum. <all_user_messages>\n- One\n- Two\n</all_user_messages>')]);
  });
});

describe('results that are cut or cleared', () => {
  onEngines('[eino 206] a result that is too long is stored whole, and a notice stands in its place', async (engine) => {
    const { outputs, transcript } = await askedOn(engine, agents.cutting, 'Hi', oneCall('echo', { text: '0123456789abc' }));
    const [, path = ''] =
      /^<persisted-output>\nOutput too large \(13\)\. Full output saved to: (\S+\/trunc\/c1)\n/.exec(String(outputs[0])) ?? [];
    expect(kept.texts.get(path)).toBe('0123456789abc');
    expect(transcript[2]).toContain(path);
  });

  onEngines('[eino 207] the first piece of a stream is seen before its source ends, and the notice only then', async (engine) => {
    const source: Gate = gate();
    holder.hold('firstly', source);
    const { shown, outputs } = await askedOn(engine, agents.cutting, 'Hi', {
      ...{ ...oneCall('streams', { text: 'firstly' }), stream: true },
      onPiece: () => source.open(),
    });
    expect(shown).toEqual(['firstly ', expect.stringContaining('Output too large (11)')]);
    expect(outputs).toEqual([shown.join('')]);
  });

  onEngines('[eino 208] a stream that is cut names what failed, and an error of its source comes behind what was held', async (engine) => {
    const unwritable = await askedOn(engine, agents.cutting, 'Hi', oneCall('pieces', { pieces: ['unwrit', 'able as it is'] }));
    expect(unwritable.outputs[0]).toMatch(/^unwrit[\s\S]*Failed to save full output: disk full\./);
    const breaking = { pieces: ['abc', 'defghijklmnop', 'tail'], error: 'out of order' };
    const { shown, outputs } = await askedOn(engine, agents.cutting, 'Hi', { ...oneCall('pieces', breaking), stream: true });
    expect(shown.join('')).toBe('abcdefghijklmnoptail');
    expect(outputs).toEqual(["The tool 'pieces' failed: out of order"]);
  });

  onEngines('[eino 209] an excluded tool keeps its output, and nothing of it is stored', async (engine) => {
    const before = kept.texts.size;
    const { outputs } = await askedOn(engine, agents.cutting, 'Hi', oneCall('optioned', { text: '0123456789abcdef' }));
    expect(outputs).toEqual(['0123456789abcdef {}']);
    expect(kept.texts.size).toBe(before);
  });

  onEngines('[eino 211] results are cleared but those of excluded tools, and only when enough would go', async (engine) => {
    const long = 'a'.repeat(100);
    const rounds = [
      user('Hi'),
      called('c1'),
      result('c1', long),
      called('add:c2'),
      result('add:c2', long),
      called('c3'),
      result('c3', 'c'),
    ];
    const resultsOf = async (agent: Parameters<typeof askedOn>[1]): Promise<readonly Json[]> =>
      (await askedOn(engine, agent, rounds)).outputs;
    const cleared = '[Old tool result content cleared]';
    expect(await resultsOf(agents.clearing)).toEqual([cleared, cleared, 'c']);
    expect(await resultsOf(agents.clearingSome)).toEqual([long, cleared, 'c']);
    expect(await resultsOf(agents.clearingMuch)).toEqual([long, long, 'c']);
  });
});

onEngines('[eino 213] what a command writes is seen as it comes, and its exit code stands in the result', async (engine) => {
  const source: Gate = gate();
  holder.hold('slow', source);
  const { shown, outputs } = await askedOn(engine, agents.commanding, 'Hi', {
    ...{ ...oneCall('execute', { command: 'slow end' }), stream: true },
    onPiece: () => source.open(),
  });
  expect(shown[0]).toBe('slow');
  expect(shown.join('')).toBe(outputs[0]);
  expect(outputs[0]).toMatch(/^slowend[\s\S]*3/);
});

onEngines('[eino 216] a forked skill is done by an agent of its own, and a model of a skill answers from then on', async (engine) => {
  const use = (skill: string) => call('skill', { skill });
  const strong = sums('Strong.');
  const steps = [use('alone'), call('echo', { text: 'x' }), { text: 'Helped.' }, use('deep')];
  const { outputs, requests, outcome } = await askedOn(engine, agents.skilled, 'Hi', { steps, models: { strong } });
  expect(outcome).toMatchObject({ status: 'completed', output: 'Strong.' });
  expect(outputs[0]).toBe('Skill "alone" completed (sub-agent execution).\n\nResult:\nHelped.');
  expect(requests[1]).toMatchObject({ instructions: 'Be a helper.', messages: [{ parts: [{ text: 'Do alone.' }] }] });
  expect(strong.requests).toHaveLength(1);
});

describe('agents that are made ready', () => {
  /** Agents differ in offered tools or in instructions. */
  const model = (
    steps: Readonly<Record<string, readonly ScriptedStep[]>>,
  ): { readonly of: Record<string, ScriptedModel>; readonly model: LanguageModel } => {
    const of = Object.fromEntries(Object.entries(steps).map(([name, list]) => [name, scriptedModel(list)]));
    const generate: LanguageModel['generate'] = async (request) => {
      const offered = ['task', 'respond', 'plan'].find((tool) => request.tools.some(({ name }) => name === tool));
      const who = /^You are the (\w+)\./.exec(request.instructions)?.[1] ?? offered ?? '';
      const script = of[who];
      if (script === undefined) throw new Error(`There is no script for ${who}.`);
      return script.generate(request);
    };
    return { of, model: { generate } };
  };
  const heard = (messages: readonly Message[] = []): readonly string[] => messages.map(lineOf);

  onEngines(
    '[eino 223] the deep agent gives a task to an agent below, which sees the session and shows its events, over a continue-as-new',
    async (engine) => {
      const task = call('task', { subagent_type: 'below', description: 'Dig a hole.' });
      const todos = call('write_todos', { todos: [{ content: 'Dig', status: 'in_progress' }] });
      const { of, model: answers } = model({ task: [todos, task, { text: 'All dug.' }], below: [{ text: 'Dug.' }] });
      const run = await engine.play(agents.deep, { model: answers, stream: true });
      const [question] = await run.waiting(1);
      await run.goOnAsNew();
      await run.resume(question?.id ?? '', 'yes');
      expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'All dug.' });
      expect(await run.notes()).toEqual(['yes', 'yes']);
      expect(heard(of['below']?.requests[0]?.messages)).toEqual(['user: Dig a hole.']);
      const paths = (await run.log()).flatMap((event) => (event.type === 'model-end' ? [event.runPath.join('/')] : []));
      expect(paths).toEqual(['deepOne', 'deepOne', 'deepOne/below@1', 'deepOne']);
      expect(await run.transcript()).toEqual(expect.arrayContaining([expect.stringContaining('Updated todo list to [{'), 'tool: Dug.']));
    },
  );

  onEngines('[eino 224] planner, executor and replanner take turns, over a continue-as-new', async (engine) => {
    const plan = (...steps: readonly string[]): ScriptedStep => call('plan', { steps });
    const { of, model: answers } = model({
      plan: [plan('Step 1', 'Step 2')],
      executor: [{ text: 'One done.' }, { text: 'Two done.' }],
      respond: [plan('Step 2'), call('respond', { response: 'All done.' })],
    });
    const run = await engine.play(agents.planned, { model: answers });
    for (const answer of ['yes', 'go on']) {
      const [question] = await run.waiting(1);
      await run.goOnAsNew();
      await run.resume(question?.id ?? '', answer);
      await run.outcome();
    }
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'All done.' });
    expect(await run.notes()).toEqual(['yes', 'go on']);
    const paths = (await run.log()).flatMap((event) => (event.type === 'model-end' ? [event.runPath.join('/')] : []));
    expect(paths).toEqual(['work/work-planner@1', 'work/executor@1', 'work/work-replanner@1', 'work/executor@2', 'work/work-replanner@2']);
    expect(heard(of['executor']?.requests[1]?.messages)[0]).toContain('Step 1\n   Result: One done.');
  });
});
