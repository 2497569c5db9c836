import { z } from 'zod';
import { scriptedModel, testRun } from '../../testing/index';
import type { FileToolSettings } from '../../middleware/filesystem/file-tool-names';
import type { FileBackend } from '../../middleware/filesystem/worker/backend';
import type { CommandPiece } from '../../middleware/filesystem/worker/shell';
import { defineTool } from '../../activities/tools/tools';
import { fileTools } from '../../middleware/filesystem/worker';
import { largeResults } from '../../middleware/filesystem/worker/large-results';
import { memoryBackend } from '../../middleware/filesystem/worker/memory-backend';
import { defineAgent } from '../../workflows/index';
import { filesystem } from '../../middleware/index';
import { only } from '../support/memory-bed';
import { execute } from '../support/tool-bed';

const code = 'const total = 1;\nconst other = 2;\n';
const searched = (): FileBackend =>
  memoryBackend({ '/b/zebra.ts': code, '/a/apple.ts': code, '/c/mango.ts': 'const total = 3;', '/c/none.md': 'nothing' });

async function told(tool: object, input: object, how: Parameters<typeof execute>[1] = {}): Promise<unknown> {
  const { outcome } = await execute(tool, { input: input as never, ...how });
  if (outcome.type === 'done') return outcome.output;
  if (outcome.type === 'failed') return `error: ${outcome.error.message}`;
  return outcome;
}

async function* piecesOf(...pieces: (CommandPiece | null | undefined | Error)[]): AsyncGenerator<CommandPiece | null | undefined> {
  for (const piece of pieces) {
    if (piece instanceof Error) throw piece;
    yield piece;
  }
}

const commands = (...pieces: Parameters<typeof piecesOf>) =>
  fileTools({ backend: memoryBackend(), streamingShell: { stream: () => piecesOf(...pieces) } }).execute;
const command = (result: { output: string; exitCode?: number; truncated?: boolean }) =>
  fileTools({ backend: memoryBackend(), shell: { execute: async () => result } }).execute;

describe('grep', () => {
  const { grep } = fileTools({ backend: searched() });

  it('[eino 212] sorts by names of files, and counts before it cuts pages', async () => {
    expect(await told(grep, { pattern: 'total' })).toBe('Found 3 files\n/a/apple.ts\n/c/mango.ts\n/b/zebra.ts');
    expect(await told(grep, { pattern: 'total', head_limit: 1, offset: 1 })).toBe('Found 3 files\n/c/mango.ts');
    expect(await told(grep, { pattern: 'total', offset: 9 })).toBe('Found 3 files');
    expect(await told(grep, { pattern: 'total = 3' })).toBe('Found 1 file\n/c/mango.ts');
    expect(await told(grep, { pattern: 'absent' })).toBe('No files found');
  });

  it('[eino 212] shows lines, and counts them', async () => {
    expect(await told(grep, { pattern: 'const', output_mode: 'content', head_limit: 3, glob: '*.ts' })).toBe(
      '/a/apple.ts:1:const total = 1;\n/a/apple.ts:2:const other = 2;\n/c/mango.ts:1:const total = 3;',
    );
    expect(await told(grep, { pattern: 'other', output_mode: 'content', '-n': false, '-B': 1, path: '/b' })).toBe(
      '/b/zebra.ts-const total = 1;\n/b/zebra.ts:const other = 2;',
    );
    expect(await told(grep, { pattern: 'const', output_mode: 'count', path: '/a/apple.ts' })).toBe(
      '/a/apple.ts:2\n\nFound 2 total occurrences across 1 file.',
    );
  });

  it('[eino 316] lists counts by file, with totals from before the pages', async () => {
    const count = (more: object): Promise<unknown> => told(grep, { pattern: 'const', output_mode: 'count', ...more });
    const summary = 'Found 5 total occurrences across 3 files.';
    expect(await count({})).toBe(`/a/apple.ts:2\n/b/zebra.ts:2\n/c/mango.ts:1\n\n${summary}`);
    expect(await count({ head_limit: 1 })).toBe(`/a/apple.ts:2\n\n${summary}`);
    expect(await count({ offset: 2 })).toBe(`/c/mango.ts:1\n\n${summary}`);
    expect(await count({ offset: -3, head_limit: 1 })).toBe(`/a/apple.ts:2\n\n${summary}`);
    expect(await count({ path: '/c' })).toBe('/c/mango.ts:1\n\nFound 1 total occurrence across 1 file.');
    expect(await count({ pattern: 'absent' })).toBe('No matches found');
  });
});

it('[eino 213] a command that streams says how it came out', async () => {
  const run = (...pieces: Parameters<typeof piecesOf>) => told(commands(...pieces), { command: 'ls' }, { stream: 'live' });
  expect(await run({ output: 'one\n' }, { output: 'two' }, { exitCode: 3 })).toBe('one\ntwo\n[Command failed with exit code 3]');
  expect(await run({ exitCode: 0 })).toBe('[Command executed successfully with no output]');
  expect(await run({ output: 'much' }, { truncated: true })).toBe('much\n[Output was truncated due to size limits]');
  expect(await run(null, { output: 'one' }, undefined)).toBe('one');
  expect(await run({ output: 'one' }, new Error('connection lost'))).toMatch(/^error: .*connection lost/);
});

describe('the settings of tools', () => {
  const namesOf = (tools: object): readonly string[] => Object.keys(tools);
  const six = ['ls', 'read_file', 'write_file', 'edit_file', 'glob', 'grep'];
  const shell = { execute: async () => ({ output: '' }) };

  it('[eino 214] are six tools, and seven with a shell', () => {
    expect(namesOf(fileTools({ backend: memoryBackend() }))).toEqual(six);
    expect(namesOf(fileTools({ backend: memoryBackend(), shell }))).toEqual([...six, 'execute']);
    const streamingShell = { stream: () => piecesOf() };
    expect(() => fileTools({ backend: memoryBackend(), shell, streamingShell })).toThrow(
      expect.objectContaining({ code: 'config-invalid', message: 'fileTools: there are a shell and a streamingShell; give one of them.' }),
    );
  });

  it('[eino 214] leave out, replace, name and describe, for the worker and for the agent', async () => {
    const custom = defineTool({ description: 'My own.', inputSchema: z.object({}), execute: () => 'mine' });
    const settings = {
      ls: { disable: true },
      glob: { custom },
      grep: { name: 'search', description: 'Looks for it.' },
    } as const satisfies FileToolSettings;
    const tools = fileTools({ backend: searched(), tools: settings });
    const agent = defineAgent({
      name: 'keeper',
      description: 'Keeps files.',
      instructions: 'Keep files.',
      model: 'test/model',
      tools: [],
      middleware: [filesystem({ tools: settings, systemPrompt: 'Files are below "/".' })],
    });
    const model = scriptedModel([{ toolCalls: [{ name: 'search', input: { pattern: 'absent' } }] }, { text: 'Done.' }]);
    const run = await testRun(agent, { input: 'Hi', model, tools });
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    const offered = model.requests[0]?.tools ?? [];
    expect(offered.map(({ name }) => name)).toEqual(['read_file', 'write_file', 'edit_file', 'glob', 'search']);
    expect(offered.find(({ name }) => name === 'glob')?.description).toBe('My own.');
    expect(offered.find(({ name }) => name === 'search')?.description).toBe('Looks for it.');
    expect(model.requests[0]?.instructions).toBe('Keep files.\n\nFiles are below "/".');
    expect(only((await run.transcript())[2]!.parts)).toMatchObject({ output: 'No files found' });
  });
});

it('[eino 313] a file is read from a line on, with numbers, within a limit', async () => {
  const long = Array.from({ length: 2500 }, (_, index) => `line ${index + 1}`).join('\n');
  const { read_file: readFile } = fileTools({ backend: memoryBackend({ '/five': '1\n2\n3\n4\n5\n', '/long': long }) });
  const read = (more: object): Promise<unknown> => told(readFile, { file_path: '/five', ...more });
  expect(await read({ offset: 2, limit: 2 })).toBe('     2\t2\n     3\t3');
  expect(await read({ offset: 0, limit: 1 })).toBe('     1\t1');
  expect(await read({ offset: -4, limit: 1 })).toBe('     1\t1');
  const all = String(await read({ file_path: '/long', limit: 0 }));
  expect(all.split('\n')).toHaveLength(2000);
  expect(all.endsWith('  2000\tline 2000')).toBe(true);
  expect(await read({ file_path: '/absent' })).toBe('error: The tool \'tool\' failed: There is no file "/absent".');
});

it('[eino 314] files are written over and edited once or everywhere', async () => {
  const backend = memoryBackend();
  const { write_file: writeFile, edit_file: editFile } = fileTools({ backend });
  const write = (content: string) => told(writeFile, { file_path: '/notes/a.md', content });
  const edit = (old_string: string, new_string: string, more: object = {}) =>
    told(editFile, { file_path: '/notes/a.md', old_string, new_string, ...more });
  expect(await write('first')).toBe('Updated file /notes/a.md');
  expect(await write('red, red and blue')).toBe('Updated file /notes/a.md');
  await edit('blue', 'green');
  expect(backend.files).toEqual({ '/notes/a.md': 'red, red and green' });
  expect(await edit('red', 'pink')).toMatch(/^error: .*has this text 2 times/);
  await edit('red', 'pink', { replace_all: true });
  expect(backend.files).toEqual({ '/notes/a.md': 'pink, pink and green' });
  expect(await edit('', 'x')).toMatch(/^error: .*old_string is empty/);
  expect(await edit('absent', 'x')).toMatch(/^error: .*does not have this text: absent/);
  expect(await edit('pink', 'x', { file_path: '/absent' })).toMatch(/^error: .*There is no file "\/absent"/);
});

it('[eino 317] a command tells its exit code, a cut and that there was no output', async () => {
  const run = (result: Parameters<typeof command>[0]) => told(command(result), { command: 'ls' });
  expect(await run({ output: 'one\ntwo' })).toBe('one\ntwo');
  expect(await run({ output: 'one', exitCode: 2 })).toBe('one\n[Command failed with exit code 2]');
  expect(await run({ output: 'one', truncated: true })).toBe('one\n[Output was truncated due to size limits]');
  expect(await run({ output: 'one', exitCode: 1, truncated: true })).toBe(
    'one\n[Command failed with exit code 1]\n[Output was truncated due to size limits]',
  );
  expect(await run({ output: '', exitCode: 0 })).toBe('[Command executed successfully with no output]');
});

it('[eino 318] ranges of pages are checked and limited, and what is wrong with them is the result', async () => {
  const asked: unknown[] = [];
  const backend: FileBackend = {
    ...memoryBackend(),
    readParts: async (_, pages) => (asked.push(pages), [{ type: 'file', mediaType: 'application/pdf', data: 'aGk=' }]),
  };
  const { read_file: readFile } = fileTools({ backend, multimodalRead: true });
  const read = (pages: string): Promise<unknown> => told(readFile, { file_path: '/a.pdf', pages });
  for (const pages of ['3', '1-10', '1-20']) expect(await read(pages)).toMatchObject([{ type: 'file' }]);
  expect(asked).toEqual([
    { first: 3, last: 3 },
    { first: 1, last: 10 },
    { first: 1, last: 20 },
  ]);
  for (const pages of ['1-', '-5', 'abc', '0-5', '1-0'])
    expect(await read(pages)).toEqual([{ type: 'text', text: expect.stringMatching(`^Invalid pages "${pages}": write one page`) }]);
  expect(await read('9-3')).toEqual([{ type: 'text', text: 'Invalid pages "9-3": the last page is before the first.' }]);
  expect(await read('1-21')).toEqual([{ type: 'text', text: expect.stringContaining('at most 20 pages') }]);
  expect(asked).toHaveLength(3);
});

describe('a large result', () => {
  const large = 'x'.repeat(41);
  const whole = defineTool({ description: 'Says much.', inputSchema: z.object({}), execute: () => large });
  const streaming = defineTool({
    description: 'Says much.',
    inputSchema: z.object({}),
    async *stream() {
      yield large.slice(0, 20);
      yield large.slice(20);
    },
  });

  it.each([
    ['at once', whole, 'whole'],
    ['as it comes', streaming, 'live'],
  ] as const)('[eino 319] is put into a file, %s', async (_, tool, stream) => {
    const backend = memoryBackend();
    const how = stream === 'live' ? { stream } : {};
    const said = String(await told(tool, {}, { middleware: [largeResults({ backend, tokens: 10 })], ...how }));
    const [path = ''] = Object.keys(backend.files);
    expect(said).toMatch(/^Tool result too large/);
    expect(path).toMatch(/^\/large_tool_result\/call-[0-9a-f]{8}$/);
    expect(said).toContain(path);
    expect(backend.files[path]).toBe(large);
    const kept = memoryBackend();
    expect(await told(tool, {}, { middleware: [largeResults({ backend: kept, tokens: 11 })], ...how })).toBe(large);
    expect(kept.files).toEqual({});
  });

  it('[eino 319] that cannot be put there is an error', async () => {
    const broken: FileBackend = { ...memoryBackend(), write: () => Promise.reject(new Error('disk full')) };
    const failing = (options: Partial<Parameters<typeof largeResults>[0]>) =>
      told(whole, {}, { middleware: [largeResults({ backend: memoryBackend(), tokens: 10, ...options })] });
    expect(await failing({ backend: broken })).toMatch(/^error: .*could not be put into a file: disk full/);
    const pathOf = (): never => {
      throw new Error('no name');
    };
    expect(await failing({ pathOf })).toMatch(/^error: .*could not be put into a file: no name/);
  });
});
