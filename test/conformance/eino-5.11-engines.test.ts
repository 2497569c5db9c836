import type { Json, Message } from '../../contract/messages/messages';
import type { ScriptedStep } from '../../testing/index';
import { scriptedModel } from '../../testing/index';
import { called, result, said, user } from '../support/compaction-bed';
import { lineOf } from '../support/memory-bed';
import { askedOn } from './asked-on';
import * as agents from './built-in-agents';
import { closeEngines, onEngines } from './engines';
import { kept, largeFiles } from './tools';

afterAll(closeEngines);

const call = (name: string, input: Json) => ({ toolCalls: [{ name, input, id: 'c1' }] });
const done: ScriptedStep = { text: 'Done.' };
const oneCall = (name: string, input: Json): { readonly steps: readonly ScriptedStep[] } => ({ steps: [call(name, input), done] });
const storedBy = async (act: () => Promise<void>): Promise<readonly string[]> => {
  const before = new Set(kept.texts.keys());
  await act();
  return [...kept.texts.keys()].filter((path) => !before.has(path));
};

describe('results that are cut', () => {
  onEngines('[eino 248] a notice has the size, the path, and the first and last characters', async (engine) => {
    const text = `${'x'.repeat(5)}-----${'y'.repeat(5)}`;
    const { outputs } = await askedOn(engine, agents.cutting, 'Hi', oneCall('echo', { text }));
    expect(outputs[0]).toMatch(
      /^<persisted-output>\nOutput too large \(15\)\. Full output saved to: offload\/default\/[\s\S]*:\nx{5}\n[\s\S]*:\ny{5}\n/,
    );
    expect(outputs[0]).not.toContain('---');
  });

  onEngines('[eino 251] a short stream passes, one of exactly the limit too, and nothing is stored', async (engine) => {
    const stored = await storedBy(async () => {
      const steps = [call('pieces', { pieces: ['ab', 'cd'] }), call('pieces', { pieces: ['01234', '56789'] }), done];
      const { shown, outputs } = await askedOn(engine, agents.cutting, 'Hi', { steps, stream: true });
      expect(outputs).toEqual(['abcd', '0123456789']);
      expect(shown.join('')).toBe('abcd0123456789');
    });
    expect(stored).toEqual([]);
  });

  onEngines('[eino 252] a stream that breaks before the limit gives its pieces, and fails as it did', async (engine) => {
    const broken = { ...oneCall('pieces', { pieces: ['ab', 'cd'], error: 'broken pipe' }), stream: true };
    const { shown, outputs } = await askedOn(engine, agents.cutting, 'Hi', broken);
    expect([shown.join(''), outputs]).toEqual(['abcd', ["The tool 'pieces' failed: broken pipe"]]);
  });

  onEngines('[eino 253] a failure of storing stands in the notice of a stream, which ends plainly', async (engine) => {
    const { outputs, outcome } = await askedOn(engine, agents.cutting, 'Hi', oneCall('pieces', { pieces: ['unwritable', ' and long'] }));
    expect(outputs[0]).toMatch(/Failed to save full output: disk full\.[\s\S]*<\/persisted-output>$/);
    expect(outcome.status).toBe('completed');
  });

  onEngines('[eino 254] a stream that breaks behind the limit gives what was held, and no notice', async (engine) => {
    const broken = { pieces: ['abc', 'defghijklmnop', 'tail'], error: 'broken pipe' };
    const stored = await storedBy(async () => {
      const { shown } = await askedOn(engine, agents.cutting, 'Hi', { ...oneCall('pieces', broken), stream: true });
      expect(shown.join('')).toBe('abcdefghijklmnoptail');
    });
    expect(stored).toEqual([]);
  });

  onEngines('[eino 319] a large result is put into a file, at once and as it comes', async (engine) => {
    const large = 'x'.repeat(41);
    const steps = [call('echo', { text: large }), call('pieces', { pieces: [large.slice(0, 20), large.slice(20)] }), done];
    const { outputs } = await askedOn(engine, agents.largely, 'Hi', { steps, stream: true });
    for (const output of outputs) {
      const [path = ''] = /\/large_tool_result\/c1-[0-9a-f]{8}/.exec(String(output)) ?? [];
      expect(largeFiles.files[path]).toBe(large);
    }
    expect(new Set(outputs).size).toBe(2);
  });
});

describe('results that are cleared', () => {
  const old = 'a'.repeat(100);
  const two = [user('Hi'), called('c1'), result('c1', old), called('c2'), result('c2', old)];
  const placeholder = '[Old tool result content cleared]';

  onEngines('[eino 257] an older result is stored and leaves a pointer, the newest round stays', async (engine) => {
    const stored = await storedBy(async () => {
      const { outputs, lines, transcript } = await askedOn(engine, agents.storing, two);
      expect(outputs).toEqual([expect.stringMatching(/saved to: offload\/default\/.*\/clear\/c1\n/), old]);
      expect(transcript).toEqual([...lines, 'assistant: Done.']);
    });
    expect(stored.map((path) => [path.split('/').slice(-2).join('/'), kept.texts.get(path)])).toEqual([['clear/c1', old]]);
  });

  onEngines('[eino 258] without storage it leaves a placeholder', async (engine) => {
    expect((await askedOn(engine, agents.clearing, two)).outputs).toEqual([placeholder, old]);
  });

  onEngines('[eino 259] results are found by the ids of their calls, in whatever order they stand', async (engine) => {
    const messages = [called('c1', 'c2'), result('c2', old), result('c1', 'first'), called('c3'), result('c3', 'new')];
    const { outputs } = await askedOn(engine, agents.storing, messages);
    const texts = outputs.slice(0, 2).map((output) => kept.texts.get(/saved to: (\S+)/.exec(String(output))?.[1] ?? ''));
    expect([texts, outputs[2]]).toEqual([[old, 'first'], 'new']);
  });

  onEngines('[eino 261] what was cleared stays as it is, and the next round is cleared after it', async (engine) => {
    const steps = [call('echo', { text: old }), done];
    const { requests } = await askedOn(engine, agents.storing, two, { steps });
    const [first = [], second = []] = requests.map(({ messages }) => messages.map(lineOf));
    expect(second.slice(0, 4)).toEqual(first.slice(0, 4));
    expect(second[4]).toMatch(/\/clear\/c2\n/);
    expect(second[6]).toBe(`tool: ${old}`);
  });

  onEngines('[eino 262] results of excluded tools stay, and nothing of them is stored', async (engine) => {
    const stored = await storedBy(async () => {
      expect((await askedOn(engine, agents.clearingSome, two)).outputs).toEqual([old, old]);
    });
    expect(stored).toEqual([]);
  });

  onEngines('[eino 263] when too few tokens would go nothing is cleared, otherwise it is', async (engine) => {
    expect((await askedOn(engine, agents.clearingMuch, two)).outputs).toEqual([old, old]);
    const long = [called('c1'), result('c1', old.repeat(50)), called('c2'), result('c2', 'new')];
    expect((await askedOn(engine, agents.clearingMuch, long)).outputs).toEqual([placeholder, 'new']);
  });

  onEngines('[eino 264] a rewriter that takes all calls replaces the round by what it returns', async (engine) => {
    const { lines, transcript } = await askedOn(engine, agents.rewriting, two);
    expect(lines).toEqual(['user: Hi', `user: Asked c1: ${old}`, 'assistant: echo({"text":"c2 in"})', `tool: ${old}`]);
    expect(transcript).toEqual([...lines, 'assistant: Done.']);
  });

  onEngines('[eino 266] a rewriter that takes some calls leaves the others with their message', async (engine) => {
    const messages = [called('c1', 'add:c2'), result('add:c2', 'sum'), result('c1', old), called('c3'), result('c3', 'new')];
    const { lines } = await askedOn(engine, agents.rewriting, messages);
    expect(lines.slice(0, 3)).toEqual([`user: Asked c1: ${old}`, 'assistant: add({"text":"c2 in"})', 'tool: sum']);
  });
});

describe('summaries', () => {
  const three = [user('One'), said('Hm.'), user('Two')];
  const sums = (...texts: readonly string[]): ReturnType<typeof scriptedModel> =>
    scriptedModel(texts.map((text) => (text === 'error' ? { error: 'busy' } : { text })));

  onEngines('[eino 271] what a finalizer returns is the whole state, and stays', async (engine) => {
    const { lines, transcript } = await askedOn(engine, agents.finished, three, { models: { sum: sums('The sum.') } });
    expect(lines.slice(0, 2)).toEqual(['system: You go on.', expect.stringContaining('The sum.')]);
    expect(transcript).toEqual([...lines, 'assistant: Done.']);
  });

  onEngines('[eino 283] finalizers run from left to right, each with what the one before made', async (engine) => {
    const { lines } = await askedOn(engine, agents.finished, three, { models: { sum: sums('The sum.') } });
    expect(lines.slice(2)).toEqual(['user: one', 'user: two']);
  });

  onEngines('[eino 272] after an error the second try counts', async (engine) => {
    const sum = sums('error', 'Second.');
    const { lines } = await askedOn(engine, agents.summarizedWithRetry, three, { models: { sum } });
    expect(sum.requests).toHaveLength(2);
    expect(lines).toEqual([expect.stringContaining('Second.')]);
  });

  onEngines('[eino 282] events tell of each try, in their order', async (engine) => {
    const { run } = await askedOn(engine, agents.summarizedWithRetry, three, { models: { sum: sums('error', 'Second.') } });
    const actions = (await run.log()).flatMap((event) =>
      event.type === 'custom' && event.name === 'summarization' ? [(event.data as { action: { type: string } }).action.type] : [],
    );
    expect(actions).toEqual(['before_summarize', 'generate_summary', 'generate_summary', 'after_summarize']);
  });

  onEngines('[eino 273] the model of a failover gets exactly the messages that were chosen for it', async (engine) => {
    const third = sums('From the third.');
    const models = { sum: sums('error'), second: sums('error'), third };
    const { lines } = await askedOn(engine, agents.summarizedByOthers, three, { models });
    expect(third.requests[0]?.messages.map(lineOf)).toEqual(['user: After model-failed.']);
    expect(lines).toEqual([expect.stringContaining('From the third.')]);
  });

  onEngines('[eino 274] without a choice a failover asks the same model the same', async (engine) => {
    const sum = sums('error', 'Second.');
    await askedOn(engine, agents.summarizedAgain, three, { models: { sum } });
    const [first = [], second = []] = sum.requests.map(({ messages }) => messages.map(lineOf));
    expect(first.length).toBeGreaterThan(3);
    expect(second).toEqual(first);
  });

  onEngines('[eino 278] of a second summary the first one is no part, and what the user said goes along', async (engine) => {
    const block = 'Sum. <all_user_messages>made up</all_user_messages>';
    const steps = [call('echo', { text: 'x' }), done];
    const { requests } = await askedOn(engine, agents.summarized, three, { steps, models: { sum: sums(block, block) } });
    for (const { messages } of requests)
      expect(messages.map(lineOf)).toEqual([expect.stringContaining('Sum. <all_user_messages>\n- One\n- Two\n</all_user_messages>')]);
  });

  onEngines('[eino 284] skills are kept through a summary', async (engine) => {
    const steps = [call('skill', { skill: 'pdf' }), done];
    const { requests } = await askedOn(engine, agents.keepingSkills, 'Hi', { steps, models: { sum: sums('The sum.') } });
    const lines = requests[1]?.messages.map(lineOf);
    expect(lines).toEqual([expect.stringMatching(/^user: [\s\S]*<skill name="pdf">[\s\S]*Do pdf\./), expect.stringContaining('The sum.')]);
  });
});

describe('tools that a search found', () => {
  const searched = (output: Json, id: string): readonly Message[] => [
    { role: 'assistant', parts: [{ type: 'tool-call', id, name: 'tool_search', input: { query: 'x' } }] },
    { role: 'tool', parts: [{ type: 'tool-result', callId: id, name: 'tool_search', output }] },
  ];
  const offered = ({ requests }: Awaited<ReturnType<typeof askedOn>>) => requests.map(({ tools }) => tools.map(({ name }) => name));

  onEngines('[eino 219] are offered from the next call on, also to a model that searches by itself', async (engine) => {
    const steps = [call('tool_search', { query: 'select:add' }), call('add', { a: 2 }), done];
    const asked = await askedOn(engine, agents.searching, 'Hi', { steps });
    expect(offered(asked)).toEqual([
      ['echo', 'tool_search'],
      ['echo', 'tool_search', 'add'],
      ['echo', 'tool_search', 'add'],
    ]);
    expect(asked.outputs[1]).toEqual({ sum: 3 });
    const other = await askedOn(engine, agents.searchingByItself, 'Hi', { steps });
    for (const { tools, deferred } of other.requests) {
      expect(tools.map(({ name }) => name)).toEqual(['echo']);
      expect(deferred?.tools.map(({ name }) => name)).toEqual(['add', 'optioned']);
    }
    expect((await other.run.messages())[3]?.parts[0]).toMatchObject({ search: true, output: [{ name: 'add' }] });
  });

  onEngines('[eino 306] a result in the conversation offers its tool, once', async (engine) => {
    const input = [user('Hi'), ...searched({ selectedTools: ['add'] }, 's1'), user('Go on.')];
    const asked = await askedOn(engine, agents.searching, input, { steps: [call('add', { a: 1 }), done] });
    expect(offered(asked)).toEqual([
      ['echo', 'tool_search', 'add'],
      ['echo', 'tool_search', 'add'],
    ]);
  });

  onEngines('[eino 307] results of several turns add up', async (engine) => {
    const input = [
      ...searched({ selectedTools: ['optioned'] }, 's1'),
      ...searched('{"selectedTools":["optioned","add"]}', 's2'),
      user('Go on.'),
    ];
    expect(offered(await askedOn(engine, agents.searching, [user('Hi'), ...input]))).toEqual([['echo', 'tool_search', 'optioned', 'add']]);
  });
});

onEngines("[eino 324] a skill's model is used for later calls, and no other", async (engine) => {
  const strong = scriptedModel([call('echo', { text: 'x' }), { text: 'Strong.' }]);
  const { requests, outcome } = await askedOn(engine, agents.skilled, 'Hi', {
    steps: [call('skill', { skill: 'deep' })],
    models: { strong },
  });
  expect(outcome).toMatchObject({ status: 'completed', output: 'Strong.' });
  expect([requests.length, strong.requests.length]).toEqual([1, 2]);
});

onEngines('[eino 322] an inline skill is read on the worker', async (engine) => {
  const { outputs, requests } = await askedOn(engine, agents.skilled, 'Hi', oneCall('skill', { skill: 'pdf' }));
  expect(outputs).toEqual(['Launching skill: pdf\nBase directory for this skill: /skills/pdf\n\nDo pdf.']);
  expect(requests[0]?.instructions).toContain('- pdf: About pdf.');
});

let filesUsed = 0;

onEngines('[eino 218] tasks are made, linked, deleted and cleared, in the run and in files', async (engine) => {
  for (const agent of [agents.planning, agents.planningInFiles]) {
    // All runs of the file share the folder, so numbers continue.
    const first = agent === agents.planning ? 0 : 3 * filesUsed++;
    const n = (task: number): string => String(first + task);
    const update = (taskId: string, more: object): ScriptedStep => call('TaskUpdate', { taskId, ...more });
    const created = ['Plan', 'Write', 'Rest'].map((subject) => call('TaskCreate', { subject, description: `${subject} it.` }));
    const changed = [update(n(1), { addBlocks: [n(2)] }), update(n(2), { addBlocks: [n(1)] }), update(n(3), { status: 'deleted' })];
    const completed = [1, 2].map((task) => update(n(task), { status: 'completed' }));
    const list = call('TaskList', {});
    const { transcript } = await askedOn(engine, agent, 'Hi', { steps: [...created, ...changed, list, ...completed, list, done] });
    expect(transcript.filter((line) => line.startsWith('tool: '))).toEqual([
      `tool: Task #${n(1)} created successfully: Plan`,
      `tool: Task #${n(2)} created successfully: Write`,
      `tool: Task #${n(3)} created successfully: Rest`,
      `tool: Updated task #${n(1)} blocks`,
      expect.stringMatching(/^tool: error .*cyclic dependency/),
      `tool: Task #${n(3)} deleted`,
      expect.stringContaining(`#${n(2)} [pending] Write [blocked by #${n(1)}]`),
      `tool: Updated task #${n(1)} status`,
      `tool: Updated task #${n(2)} status`,
      'tool: No tasks found.',
    ]);
  }
});
