import { scriptedModel, testRun } from '../../testing/index';
import type { MemoryBackend } from '../../middleware/filesystem/worker/memory-backend';
import { memoryBackend } from '../../middleware/filesystem/worker/memory-backend';
import { taskTools } from '../../middleware/plan-task/worker';
import type { Json } from '../../workflows/index';
import { planTask } from '../../middleware/index';
import { agentWith } from '../support/memory-bed';

type Call = readonly [name: string, input: Json];
interface Answered {
  readonly texts: readonly string[];
  readonly backend: MemoryBackend;
}
type Kept = 'run' | 'worker';

async function calls(keptIn: Kept, ...asked: readonly Call[]): Promise<Answered> {
  const backend = memoryBackend();
  const model = scriptedModel([...asked.map(([name, input]) => ({ toolCalls: [{ name, input }] })), { text: 'Done.' }]);
  const run = await testRun(agentWith({ tools: [], middleware: [planTask({ keptIn })], maxIterations: 50 }), {
    input: 'Hi',
    model,
    tools: taskTools({ backend, baseDir: '/tasks' }),
  });
  expect(await run.outcome()).toMatchObject({ status: 'completed' });
  const results = (await run.transcript()).flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-result'));
  return { texts: results.map(({ output, isError }) => `${isError === true ? 'error: ' : ''}${String(output)}`), backend };
}

const create = (subject: string, more: object = {}): Call => ['TaskCreate', { subject, description: `${subject} it.`, ...more }];
const update = (taskId: string, more: object): Call => ['TaskUpdate', { taskId, ...more }];
const get = (taskId: string): Call => ['TaskGet', { taskId }];
const list: Call = ['TaskList', {}];

const four = ['Plan', 'Write', 'Test', 'Ship'].map((subject) => create(subject));
const kinds = ['run', 'worker'] as const;

it.each(kinds)('[eino 218] tasks are made, linked on both sides, and cleared when all are completed: in the %s', async (kept) => {
  const { texts, backend } = await calls(
    kept,
    create('Plan'),
    create('Write'),
    update('1', { addBlocks: ['2', '2'] }),
    update('2', { addBlockedBy: ['1'], status: 'in_progress' }),
    get('1'),
    get('2'),
    update('1', { status: 'completed' }),
    update('2', { status: 'completed' }),
    list,
    create('Again'),
  );
  expect(texts).toEqual([
    'Task #1 created successfully: Plan',
    'Task #2 created successfully: Write',
    'Updated task #1 blocks',
    'Updated task #2 blockedBy, status',
    'Task #1: Plan\nStatus: pending\nDescription: Plan it.\nBlocks: #2',
    'Task #2: Write\nStatus: in_progress\nDescription: Write it.\nBlocked by: #1',
    'Updated task #1 status',
    'Updated task #2 status',
    'No tasks found.',
    'Task #3 created successfully: Again',
  ]);
  expect(Object.keys(backend.files)).toEqual(kept === 'run' ? [] : ['/tasks/.highwatermark', '/tasks/3.json']);
  if (kept === 'worker') expect(backend.files['/tasks/.highwatermark']).toBe('3');
});

it.each(kinds)('[eino 286] a task shows what it waits for and what waits for it: in the %s', async (kept) => {
  const { texts } = await calls(kept, ...four, update('1', { addBlocks: ['2', '3'], addBlockedBy: ['4'] }), get('1'), get('9'));
  expect(texts.slice(5)).toEqual([
    'Task #1: Plan\nStatus: pending\nDescription: Plan it.\nBlocked by: #4\nBlocks: #2, #3',
    expect.stringMatching(/^error: .*Task #9 not found$/),
  ]);
});

it.each(kinds)('[eino 287] the list has number, status, subject, owner and blocks: in the %s', async (kept) => {
  expect((await calls(kept, list)).texts).toEqual(['No tasks found.']);
  const ten = Array.from({ length: 10 }, (_, number) => create(`Step ${number + 1}`));
  const { texts } = await calls(kept, ...ten, update('2', { owner: 'ada', status: 'in_progress', addBlockedBy: ['1', '3'] }), list);
  expect(texts.at(-1)?.split('\n').slice(0, 3)).toEqual([
    '#1 [pending] Step 1',
    '#10 [pending] Step 10',
    '#2 [in_progress] Step 2 [owner: ada] [blocked by #1, #3]',
  ]);
});

it('[eino 288] metadata are merged, and null takes a key away', async () => {
  const { backend } = await calls(
    'worker',
    create('Plan', { metadata: { size: 1, by: 'ada' } }),
    update('1', { metadata: { size: 2, by: null, due: 'today' } }),
  );
  expect(JSON.parse(backend.files['/tasks/1.json']!)).toMatchObject({ metadata: { size: 2, due: 'today' } });
  expect(JSON.parse(backend.files['/tasks/1.json']!)).not.toHaveProperty('metadata.by');
});

it.each(['../../../etc/passwd', 'abc', '1.5', '', '-1'])('[eino 289] what is no number of a task is refused: %j', async (taskId) => {
  for (const kept of kinds) {
    const { texts, backend } = await calls(kept, get(taskId), update(taskId, { status: 'completed' }));
    for (const text of texts) expect(text).toMatch(/^error: .*validate task ID failed/);
    expect(backend.files).toEqual({});
  }
});

const linked = [...four, update('1', { addBlocks: ['2'] }), update('2', { addBlocks: ['3'] })];
it.each<[string, Call]>([
  ['itself, by what it blocks', update('1', { addBlocks: ['1'] })],
  ['itself, by what blocks it', update('1', { addBlockedBy: ['1'] })],
  ['two, by what it blocks', update('2', { addBlocks: ['1'] })],
  ['two, by what blocks it', update('1', { addBlockedBy: ['2'] })],
  ['three, by what it blocks', update('3', { addBlocks: ['1'] })],
  ['three, by what blocks it', update('1', { addBlockedBy: ['3'] })],
])('[eino 291] a circle of %s is refused and changes nothing', async (_, circle) => {
  const before = await calls('worker', ...linked);
  const [name, input] = circle;
  const { texts, backend } = await calls('worker', ...linked, [name, { ...(input as object), subject: 'Changed' }]);
  expect(texts.at(-1)).toMatch(/^error: .*cyclic dependency/);
  const own = (files: Readonly<Record<string, string>>): string => JSON.stringify(files).replace(/\\"origin\\":\\"[^"]*\\"/g, '');
  expect(own(backend.files)).toBe(own(before.backend.files));
  expect((await calls('run', ...linked, circle)).texts.at(-1)).toMatch(/^error: .*cyclic dependency/);
});

it('[eino 292] a deleted task leaves no file and no reference', async () => {
  const { texts, backend } = await calls('worker', ...linked, update('2', { status: 'deleted' }), get('1'), get('3'), get('2'));
  expect(Object.keys(backend.files)).toEqual(['/tasks/.highwatermark', '/tasks/1.json', '/tasks/3.json', '/tasks/4.json']);
  expect(texts.slice(-4)).toEqual([
    'Task #2 deleted',
    'Task #1: Plan\nStatus: pending\nDescription: Plan it.',
    'Task #3: Test\nStatus: pending\nDescription: Test it.',
    expect.stringContaining('Task #2 not found'),
  ]);
});

it('[eino 293] the last completed task clears the list, and not one before', async () => {
  const two = [create('Plan'), create('Write'), update('1', { status: 'completed' })];
  expect(Object.keys((await calls('worker', ...two)).backend.files)).toEqual(['/tasks/.highwatermark', '/tasks/1.json', '/tasks/2.json']);
  expect(Object.keys((await calls('worker', ...two, update('2', { status: 'completed' }))).backend.files)).toEqual([
    '/tasks/.highwatermark',
  ]);
});
