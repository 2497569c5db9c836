import { z } from 'zod';
import { defineTool } from '../../../activities/tools/tools';
import type { Json, Part } from '../../../contract/messages/messages';
import { fileTools } from '../../../middleware/filesystem/worker';
import type { FileBackend } from '../../../middleware/filesystem/worker/backend';
import { largeResults } from '../../../middleware/filesystem/worker/large-results';
import { memoryBackend } from '../../../middleware/filesystem/worker/memory-backend';
import { taskTools } from '../../../middleware/plan-task/worker';
import { scriptedModel, testRun } from '../../../testing/index';
import type { TestRun } from '../../../testing/index';
import { filesystem, planTask } from '../../../middleware/index';
import { agentWith } from '../../support/memory-bed';

const outputsOf = async (run: TestRun): Promise<readonly Json[]> =>
  (await run.transcript()).flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? [part.output] : [])));

describe('[check 11] fileTools', () => {
  it.each([
    [{}, 'fileTools: backend must be a backend, such as directoryBackend("./files"). It is missing.'],
    [undefined, 'fileTools: backend must be a backend, such as directoryBackend("./files"). It is missing.'],
    [{ shell: { execute: () => undefined } }, 'fileTools: backend must be a backend, such as directoryBackend("./files"). It is missing.'],
    [{ backend: memoryBackend(), tools: { ls: { custom: {} } } }, 'fileTools: tools.ls.custom is no tool; make it with defineTool.'],
    [
      { backend: memoryBackend(), tools: { ls: { custom: { description: 'x', execute: 1 } } } },
      'fileTools: tools.ls.custom is no tool; make it with defineTool.',
    ],
  ])('refuses the options %j with what to change', (options, message) => {
    expect(() => fileTools(options as never)).toThrow(expect.objectContaining({ code: 'config-invalid', message }));
  });
});

const large = 'line\n'.repeat(200);
const inputSchema = z.object({});
const tools = {
  whole: defineTool({ description: 'Says much.', inputSchema, execute: () => large }),
  streamed: defineTool({
    description: 'Says much.',
    inputSchema,
    async *stream() {
      yield large;
    },
  }),
  parts: defineTool({
    description: 'Says much.',
    inputSchema,
    enhanced: true,
    execute: (): readonly Part[] => [
      { type: 'file', mediaType: 'image/png', data: 'aQ==' },
      { type: 'text', text: large },
      { type: 'file', mediaType: 'image/png', data: 'ag==' },
    ],
  }),
  partsStreamed: defineTool({
    description: 'Says much.',
    inputSchema,
    enhanced: true,
    async *stream(): AsyncGenerator<Part> {
      yield { type: 'text', text: large };
    },
  }),
};
const names = Object.keys(tools);

async function largely(backend: FileBackend, options: object = {}): Promise<TestRun> {
  const agent = agentWith({
    tools: names,
    middleware: [
      filesystem({ largeResults: true, tools: Object.fromEntries(['ls', 'write_file'].map((name) => [name, { disable: true }])) }),
    ],
  });
  const model = scriptedModel([{ toolCalls: names.map((name) => ({ name, id: name, input: {} })) }, { text: 'Done.' }]);
  const run = await testRun(agent, {
    input: 'Hi',
    model,
    tools: { ...fileTools({ backend }), ...tools },
    middleware: [largeResults({ backend, tokens: 100, ...options })],
  });
  await run.outcome();
  return run;
}

describe('[check 11] largeResults', () => {
  it.each<[string, Partial<FileBackend>, object, string]>([
    ['the backend', { write: () => Promise.reject(new Error('disk full')) }, {}, 'disk full'],
    ['a function for paths', {}, { pathOf: () => '' }, 'pathOf gave no path.'],
    ['a function for paths that throws', {}, { pathOf: (): never => fail() }, 'no idea'],
  ])('that cannot write, for %s, fails the call and not the run', async (_, backend, options, reason) => {
    const run = await largely({ ...memoryBackend(), ...backend }, options);
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Done.' });
    expect(await outputsOf(run)).toEqual(
      names.map(
        (name) =>
          `The tool '${name}' failed: It ran, but its result of 1000 bytes is too large, and could not be put into a file: ${reason}`,
      ),
    );
  });

  it('puts the texts of a list of parts into a file, and leaves its files where they stand', async () => {
    const backend = memoryBackend();
    const outputs = await outputsOf(await largely(backend));
    expect(Object.values(backend.files)).toEqual(names.map(() => large));
    const parts = outputs[2] as unknown as readonly Part[];
    expect(parts.map(({ type }) => type)).toEqual(['file', 'text', 'file']);
    expect(parts[1]).toMatchObject({ text: expect.stringMatching(/^Tool result too large\./) });
    expect(outputs[3]).toEqual([{ type: 'text', text: expect.stringMatching(/^Tool result too large\./) }]);
  });
});

function fail(): never {
  throw new Error('no idea');
}

const create = (subject: string) => ({ name: 'TaskCreate', input: { subject, description: `${subject} it.` } });
const update = (taskId: string, change: object) => ({ name: 'TaskUpdate', input: { taskId, ...change } });

describe.each(['run', 'worker'] as const)('[check 11] TaskUpdate of tasks that are kept in the %s', (keptIn) => {
  it('says which update failed and for which field, and changes nothing', async () => {
    const calls = [
      create('Plan'),
      create('Write'),
      update('1', { subject: 'Changed', addBlocks: ['2', '9'] }),
      update('2', { subject: 'Changed', addBlockedBy: ['8'] }),
      update('1', { addBlocks: ['x'] }),
      update('2', { addBlocks: ['2'] }),
      update('7', { subject: 'Changed' }),
      update('../7', { subject: 'Changed' }),
    ];
    const model = scriptedModel([
      ...calls.map((call) => ({ toolCalls: [call] })),
      { toolCalls: [{ name: 'TaskList', input: {} }] },
      { text: 'Done.' },
    ]);
    const run = await testRun(agentWith({ tools: [], middleware: [planTask({ keptIn })] }), {
      input: 'Hi',
      model,
      tools: keptIn === 'run' ? {} : taskTools({ backend: memoryBackend(), baseDir: '/tasks' }),
    });
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect((await outputsOf(run)).slice(2)).toEqual(
      [
        'TaskUpdate of #1 failed: addBlocks: Task #9 not found',
        'TaskUpdate of #2 failed: addBlockedBy: Task #8 not found',
        'TaskUpdate of #1 failed: addBlocks: validate task ID failed: "x" is no number of a task.',
        'TaskUpdate of #2 failed: addBlocks: cyclic dependency: task #2 cannot block task #2, which it would wait for itself.',
        'TaskUpdate failed: Task #7 not found',
        'TaskUpdate failed: validate task ID failed: "../7" is no number of a task.',
        '#1 [pending] Plan\n#2 [pending] Write',
      ].map((text) => expect.stringMatching(new RegExp(`${text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}$`))),
    );
  });
});
