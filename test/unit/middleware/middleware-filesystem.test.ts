import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptedModel, testRun } from '../../../testing/index';
import { directoryBackend, directoryShell, fileTools } from 'holdfast/worker';
import { filesystem, planTask } from 'holdfast/middleware';
import { agentsMdTool } from '../../../middleware/agents-md/worker';
import { largeResults } from '../../../middleware/filesystem/worker/large-results';
import { memoryBackend } from '../../../middleware/filesystem/worker/memory-backend';
import { taskTools } from '../../../middleware/plan-task/worker';
import { reductionOnWorker } from '../../../middleware/reduction/worker';
import { memoryResponses } from '../../../middleware/response-cache/worker/stores';
import { cachedResponses } from '../../../middleware/response-cache/worker';
import { skillFiles } from '../../../middleware/skill/worker/skill-files';
import { globMatcher } from '../../../middleware/filesystem/worker/glob';
import { middlewareExamples, runExamples } from '../../support/document-examples';
import { agentUnder, agentWith, startRun, tools } from '../../support/memory-bed';
import { execute } from '../../support/tool-bed';
import { z } from 'zod';
import { defineTool } from '../../../activities/tools/tools';
import type { Json, Part } from '../../../contract/messages/messages';
import type { FileBackend } from '../../../middleware/filesystem/worker/backend';
import type { TestRun } from '../../../testing/index';
import { errorOf } from '../../support/failures';

const { fileToolsOfProject, keeper } = runExamples(middlewareExamples('filesystem'), require);

it('docs/reference/middleware/filesystem.md shows code that does what the page says', async () => {
  const model = scriptedModel([{ toolCalls: [{ name: 'execute', input: { command: 'rm -r .' } }] }, { text: 'Done.' }]);
  const run = await testRun(keeper, { input: 'Clean up', model, tools: fileToolsOfProject });
  expect(await run.outcome()).toMatchObject({ status: 'waiting', interrupts: [{ tool: 'execute' }] });
  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['ls', 'read_file', 'write_file', 'edit_file', 'search', 'execute']);
});

let root = '';
let inside = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'holdfast-files-'));
  inside = join(root, 'inside');
  mkdirSync(join(inside, 'notes'), { recursive: true });
  writeFileSync(join(inside, 'notes', 'today.md'), 'buy tea\n');
  writeFileSync(join(root, 'secret.txt'), 'secret');
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

async function told(tool: object, input: object, how: Parameters<typeof execute>[1] = {}): Promise<unknown> {
  const { outcome } = await execute(tool, { input: input as never, ...how });
  return outcome.type === 'failed' ? `error: ${outcome.error.message}` : outcome.type === 'done' ? outcome.output : outcome;
}

describe('a directory backend', () => {
  it('reads, writes, lists and removes below its folder', async () => {
    const files = directoryBackend(inside);
    await files.write('/notes/deep/new.md', 'one');
    await files.write('notes/deep/new.md', 'two');
    expect(await files.read('/notes/deep/new.md')).toBe('two');
    expect(await files.list('/notes')).toEqual([
      { path: '/notes/deep', kind: 'folder' },
      { path: '/notes/today.md', kind: 'file' },
    ]);
    await files.remove('/notes/deep/new.md');
    await expect(files.read('/notes/deep/new.md')).rejects.toMatchObject({ code: 'ENOENT' });
    expect(readdirSync(join(inside, 'notes', 'deep'))).toEqual([]);
  });

  it('makes its folder where there is none', async () => {
    const files = directoryBackend(join(root, 'made', 'here'));
    expect(await files.list('/')).toEqual([]);
    await files.write('/new.md', 'one');
    expect(readFileSync(join(root, 'made', 'here', 'new.md'), 'utf8')).toBe('one');
  });

  it.each(['../secret.txt', '/../secret.txt', '/notes/../../secret.txt', '/notes/\0'])('refuses the path %j', async (path) => {
    const files = directoryBackend(inside);
    for (const act of [files.read(path), files.write(path, 'x'), files.remove(path), files.list(path)])
      await expect(act).rejects.toMatchObject({ code: 'tool-input-invalid' });
    expect(readFileSync(join(root, 'secret.txt'), 'utf8')).toBe('secret');
  });

  it('takes a link that leads out for nothing, wherever it stands in a path', async () => {
    symlinkSync(join(root, 'secret.txt'), join(inside, 'file-link'));
    symlinkSync(root, join(inside, 'folder-link'));
    symlinkSync(join(root, 'new.txt'), join(inside, 'dangling'));
    symlinkSync(join(inside, 'notes'), join(inside, 'fine'));
    const files = directoryBackend(inside);
    for (const path of ['/file-link', '/folder-link/secret.txt', '/dangling', '/folder-link/new.txt']) {
      await expect(files.read(path)).rejects.toMatchObject({ code: 'ENOENT' });
      await expect(files.write(path, 'x')).rejects.toThrow();
    }
    expect(readdirSync(root).sort()).toEqual(['inside', 'secret.txt']);
    expect(readFileSync(join(root, 'secret.txt'), 'utf8')).toBe('secret');
    expect(await files.read('/fine/today.md')).toBe('buy tea\n');
    expect((await files.list('/')).map(({ path }) => path)).toEqual(['/fine', '/notes']);
  });

  it('removes a link, and never what it leads to', async () => {
    symlinkSync(join(root, 'secret.txt'), join(inside, 'file-link'));
    await directoryBackend(inside).remove('/file-link');
    expect(readdirSync(root).sort()).toEqual(['inside', 'secret.txt']);
  });

  it('keeps the mode of a file that it writes over, and reads no more than it may', async () => {
    writeFileSync(join(inside, 'run.sh'), 'true', { mode: 0o755 });
    const files = directoryBackend(inside, { maxBytes: 8 });
    await files.write('/run.sh', 'false');
    expect(statSync(join(inside, 'run.sh')).mode & 0o777).toBe(0o755);
    await files.write('/long', '123456789');
    await expect(files.read('/long')).rejects.toThrow('The file "/long" has 9 bytes; at most 8 are read.');
    await expect(files.read('/notes')).rejects.toThrow(/"\/notes"/);
  });

  it('says nothing of the folder that it lies in', async () => {
    const files = directoryBackend(inside);
    const errors = await Promise.all(
      [files.list('/notes/today.md'), files.read('/notes/today.md/x'), files.write('/notes/today.md/x', ''), files.read('/notes')].map(
        (act) => act.then(String, (error: Error) => error.message),
      ),
    );
    expect(errors.filter((message) => message.includes(root))).toEqual([]);
  });

  it('hands images to the model as files', async () => {
    writeFileSync(join(inside, 'dot.png'), Buffer.from([1, 2, 3]));
    const { read_file: readFile } = fileTools({ backend: directoryBackend(inside), multimodalRead: true });
    expect(await told(readFile, { file_path: '/dot.png' })).toEqual([{ type: 'file', mediaType: 'image/png', data: 'AQID' }]);
    expect(await told(readFile, { file_path: '/notes/today.md' })).toEqual([{ type: 'text', text: '     1\tbuy tea' }]);
  });
});

describe('searches', () => {
  it.each([
    ['*.ts', 'a.ts', true],
    ['*.ts', 'b/a.ts', false],
    ['**/*.ts', 'a.ts', true],
    ['**/*.ts', 'b/c/a.ts', true],
    ['src/**', 'src/b/c.md', true],
    ['{a,b}?.[jt]s', 'b1.js', true],
    ['{a,b}?.[!jt]s', 'b1.js', false],
    ['a.ts', 'aXts', false],
  ])('take %j for %j: %s', (pattern, path, fits) => {
    expect(globMatcher(pattern)(path)).toBe(fits);
  });

  it('take no longer for a pattern of many stars', () => {
    expect(globMatcher('***a*a*a*a*a*a*a*a*a*a*b')('a'.repeat(5000))).toBe(false);
  });

  it('find files and lines in a real folder', async () => {
    const { glob, grep, ls } = fileTools({ backend: directoryBackend(inside) });
    symlinkSync(inside, join(inside, 'notes', 'round'));
    expect(await told(glob, { pattern: '**/*.md' })).toBe('/notes/today.md');
    expect(await told(grep, { pattern: 'TEA', '-i': true, output_mode: 'content' })).toBe('/notes/today.md:1:buy tea');
    expect(await told(ls, {})).toBe('/notes/');
    expect(await told(grep, { pattern: '(' })).toMatch(/^error: .*The pattern is no regular expression/);
  });

  it('end, also with an expression that takes JavaScript for ever', async () => {
    const { grep } = fileTools({ backend: memoryBackend({ '/a': `${'a'.repeat(40)}!\nb`, '/b': 'aaa\r\nb' }) });
    expect(await told(grep, { pattern: '^(a+)+$', output_mode: 'content' })).toBe('/b:1:aaa\r');
    expect(await told(grep, { pattern: 'a$\\s^b', multiline: true, output_mode: 'content' })).toBe('/b:1:aaa\r\n/b:2:b');
  });

  it.each([
    ['(?=a)', 'look-around and back-references are not taken'],
    ['(a)\\1', 'look-around and back-references are not taken'],
    ['(?:a{1000}){1000}', 'nor is a very large pattern'],
    ['(?:[ab]{1000}){15}', 'The pattern is too large for the 200000 characters of "/a"'],
  ])('refuse %s', async (pattern, reason) => {
    const { grep } = fileTools({ backend: memoryBackend({ '/a': 'a'.repeat(200_000) }) });
    expect(await told(grep, { pattern })).toMatch(new RegExp(`^error: .*${reason}`));
  });
});

describe('a directory shell', () => {
  const run = (command: string, options: Parameters<typeof directoryShell>[1] = {}) =>
    told(fileTools({ backend: memoryBackend(), shell: directoryShell(inside, options) }).execute, { command });

  it('runs commands in its folder, without the keys of the worker', async () => {
    process.env['HOLDFAST_TEST_KEY'] = 'secret';
    expect(await run('cat notes/today.md; echo "key $HOLDFAST_TEST_KEY" >&2; exit 3')).toBe(
      'buy tea\nkey \n\n[Command failed with exit code 3]',
    );
    delete process.env['HOLDFAST_TEST_KEY'];
  });

  it('keeps as much output as it may, and waits for nothing that a command leaves running', async () => {
    expect(await run('printf 123456789; sleep 600 &', { maxBytes: 4 })).toBe('1234\n[Output was truncated due to size limits]');
  });

  it('ends a command, and all that it began, when the call is cancelled', async () => {
    const abort = new AbortController();
    const running = directoryShell(inside).execute('touch started; sleep 600 | cat', abort.signal);
    setImmediate(() => abort.abort(new Error('cancelled')));
    await expect(running).rejects.toThrow('cancelled');
  });
});

describe('a command that leaves its group', () => {
  const isLinux = process.platform === 'linux';
  const started = async (file: string): Promise<number> => {
    for (;;) {
      const text = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
      if (text !== '') return Number(text);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const isThere = (pid: number): boolean => {
    try {
      return !/State:\s+[ZX]/.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
    } catch {
      return false;
    }
  };
  const gone = async (pid: number): Promise<void> => {
    while (isThere(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const leaving = (ending: string): string => `setsid sh -c 'echo $$ > pid; sleep 600' & ${ending}`;

  (isLinux ? it : it.skip)('ends with the call that is cancelled', async () => {
    const abort = new AbortController();
    const running = directoryShell(inside).execute(leaving('wait'), abort.signal);
    const pid = await started(join(inside, 'pid'));
    abort.abort(new Error('cancelled'));
    await expect(running).rejects.toThrow('cancelled');
    await gone(pid);
  });

  (isLinux ? it : it.skip)('ends with the command, which waits for nobody', async () => {
    const result = await directoryShell(inside).execute(leaving('while [ ! -s pid ]; do :; done; echo done'), new AbortController().signal);
    expect(result).toMatchObject({ output: 'done\n', exitCode: 0 });
    await gone(Number(readFileSync(join(inside, 'pid'), 'utf8')));
  });

  it.each([
    ['has a NUL', '.', 'echo a\0b', 'tool-input-invalid', /A command has no NUL in it\./],
    ['has no folder', 'none', 'echo', 'tool-failed', /The command could not be started: ENOENT\./],
  ] as const)('is told when it %s', async (_, folder, command, code, message) => {
    const running = directoryShell(join(inside, folder)).execute(command, new AbortController().signal);
    await expect(running).rejects.toMatchObject(errorOf(code, message));
  });
});

describe('what would damage or stall', () => {
  it('refuses to edit what is not in UTF-8, and leaves it as it was', async () => {
    const bytes = Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x20, 0x66, 0x6f, 0x6f]);
    writeFileSync(join(inside, 'latin'), bytes);
    const backend = directoryBackend(inside);
    const { edit_file: edit, read_file: read } = fileTools({ backend });
    expect(await told(edit, { file_path: '/latin', old_string: 'foo', new_string: 'bar' })).toMatch(/"\/latin" is not in UTF-8/);
    expect(readFileSync(join(inside, 'latin')).equals(bytes)).toBe(true);
    expect(await told(read, { file_path: '/latin' })).toContain('foo');
    await expect(backend.readToEdit?.('/latin')).rejects.toMatchObject({ code: 'tool-failed' });
  });

  it('keeps the mark at the beginning of a file', async () => {
    writeFileSync(join(inside, 'bom'), '\uFEFFa');
    const { edit_file: edit } = fileTools({ backend: directoryBackend(inside) });
    await told(edit, { file_path: '/bom', old_string: 'a', new_string: 'b' });
    expect(readFileSync(join(inside, 'bom'), 'utf8')).toBe('\uFEFFb');
  });

  it.each([
    ['glob', { pattern: '{'.repeat(9000) + '}'.repeat(9000) }, /The pattern has 18000 signs; at most 500/],
    ['glob', { pattern: '{a,b}'.repeat(40) }, /more than 32 braces/],
    ['glob', { pattern: '{a,b}'.repeat(30) }, /more than 256 patterns/],
    ['grep', { pattern: '('.repeat(20_000) }, /The pattern has 20000 signs; at most 2000/],
  ] as const)('%s bounds the pattern of %j', async (tool, input, message) => {
    const { glob, grep } = fileTools({ backend: memoryBackend({ '/a': 'text' }) });
    expect(await told(tool === 'glob' ? glob : grep, input)).toMatch(message);
  });
});

it.each<[string, () => unknown, string]>([
  ['directoryBackend', () => directoryBackend('x', { maxByte: 5 } as never), 'there is no option "maxByte"; did you mean maxBytes?'],
  ['directoryBackend', () => directoryBackend('x', null as never), 'the options must be an object with maxBytes, not null.'],
  ['directoryShell', () => directoryShell('x', { environment: 5 } as never), 'environment must be an object with strings. It is 5.'],
  ['memoryBackend', () => memoryBackend(5 as never), 'the files must be strings by their paths'],
  ['memoryBackend', () => memoryBackend({ '../x': 'a' }), 'The path "../x" leads out of the files.'],
  ['memoryBackend', () => memoryBackend({ '/a': 'x', '/a/b': 'y' }), '"/a" is a file, and "/a/b" needs a folder there.'],
  ['agentsMdTool', () => agentsMdTool({} as never), 'backend must be a backend, such as directoryBackend("./files").'],
  ['memoryResponses', () => memoryResponses(-1 as never), 'the options must be an object with entries, not -1.'],
  ['memoryResponses', () => memoryResponses({ entries: -1 }), 'entries must be a whole number of at least 1. It is -1.'],
  ['cachedResponses', () => cachedResponses({ stor: 5 } as never), 'there is no option "stor"; did you mean store?'],
  ['reductionOnWorker', () => reductionOnWorker({ handler: {} } as never), 'there is no option "handler"'],
  ['taskTools, baseDir', () => taskTools({ backend: memoryBackend(), baseDir: '../x' }), 'The path "../x" leads out of the files.'],
  ['skillFiles', () => skillFiles(memoryBackend(), '../..'), 'The path "../.." leads out of the files.'],
  ['skillFiles', () => skillFiles(undefined as never, '/'), 'backend must be a backend, such as directoryBackend("."). It is missing.'],
])('%s of a worker refuses what is wrong, with a code', (owner, make, message) => {
  expect(make).toThrow(expect.objectContaining({ code: 'config-invalid', message: expect.stringContaining(`${owner}: ${message}`) }));
});

describe('filesystem', () => {
  it('offers the tools to the model, and puts large results into files', async () => {
    const backend = memoryBackend({ '/long.md': Array.from({ length: 400 }, (_, line) => `line ${line}`).join('\n') });
    const model = scriptedModel([
      { toolCalls: [{ name: 'grep', input: { pattern: 'line', output_mode: 'content' } }] },
      { toolCalls: [{ name: 'read_file', input: { file_path: '/long.md' } }] },
      { text: 'Done.' },
    ]);
    const run = await startRun(agentUnder(filesystem({ largeResults: true })), model, {
      tools: { ...fileTools({ backend }), ...tools },
      middleware: [largeResults({ backend, tokens: 500 })],
    });
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    const results = await outputsOf(run);
    expect(results[0]).toMatch(/^Tool result too large/);
    expect(String(results[1]).split('\n')).toHaveLength(400);
    expect(Object.keys(backend.files)).toEqual([expect.stringMatching('^/large_tool_result/'), '/long.md']);
  });

  it.each([
    [{ tools: { lsx: {} } }, 'filesystem: there is no option "tools.lsx"; did you mean ls?'],
    [{ tools: { ls: { name: 'two words' } } }, /filesystem: tools\.ls\.name must be a name/],
    [{ tools: { ls: { name: 'grep' } } }, 'filesystem: two of the tools are named "grep"; give one of them another name.'],
    [{ tools: { ls: { disabled: true } } }, 'filesystem: there is no option "tools.ls.disabled"; did you mean disable?'],
    [{ backend: {} }, 'filesystem: there is no option "backend"; there are tools, shell, systemPrompt, largeResults.'],
    [{ shell: {} }, 'filesystem: shell must be true or false; the shell itself belongs to the worker. It is {}.'],
  ])('refuses the options %j', (options, message) => {
    expect(() => filesystem(options as never)).toThrow(errorOf('agent-invalid', expect.stringMatching(message)));
  });

  it.each([
    [{}, /fileTools: backend must be a backend, such as directoryBackend\("\.\/files"\)\. It is missing\./],
    [{ backend: { list() {} } }, 'fileTools: backend must be a backend, .* It has no read.'],
    [{ backend: memoryBackend(), multimodalRead: true }, /^fileTools: multimodalRead needs a backend with readParts/],
    [{ backend: memoryBackend(), shell: {} }, 'fileTools: shell must be a shell, .* It has no execute.'],
    [{ backend: memoryBackend(), tools: { ls: { custom: {} } } }, 'fileTools: tools.ls.custom is no tool; make it with defineTool.'],
    [{ backend: memoryBackend(), tools: { ls: { custom: { description: 'x', execute: 1 } } } }, 'tools.ls.custom is no tool'],
    [undefined, /fileTools: backend must be a backend/],
  ])('refuses tools of the worker with the options %j', (options, message) => {
    expect(() => fileTools(options as never)).toThrow(errorOf('config-invalid', expect.stringMatching(message)));
  });
});

describe('edits of one file', () => {
  const edit = (from: string, to: string): object => ({ file_path: '/p', old_string: from, new_string: to });

  it('at the same time all count', async () => {
    const backend = memoryBackend({ '/p': 'a b c d' });
    const { edit_file: tool } = fileTools({ backend });
    await Promise.all(['a', 'b', 'c', 'd'].map((letter) => told(tool, edit(letter, letter.repeat(3)))));
    expect(await backend.read('/p')).toBe('aaa bbb ccc ddd');
  });

  it('are not made twice when an attempt was lost: the model is told to look', async () => {
    const backend = memoryBackend({ '/p': 'foobar' });
    const { edit_file: tool } = fileTools({ backend });
    expect(await told(tool, edit('foo', 'foobar'), { attempt: 2 })).toContain('Nobody knows whether /p was edited');
    expect(await backend.read('/p')).toBe('foobar');
    await backend.write('/p', 'foo');
    expect(await told(tool, edit('foo', 'foobar'), { attempt: 2 })).toBe('Replaced the text in /p');
  });

  it('and searches with very many hits end', async () => {
    const { grep } = fileTools({ backend: memoryBackend({ '/big': 'a\n'.repeat(150_000) }) });
    expect(await told(grep, { pattern: 'a', output_mode: 'count' })).toContain('150000');
  });
});

const outputsOf = async (run: TestRun): Promise<readonly Json[]> =>
  (await run.transcript()).flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? [part.output] : [])));

const large = 'line\n'.repeat(200);
const much = { description: 'Says much.', inputSchema: z.object({}) };
const wordy = {
  whole: defineTool({ ...much, execute: () => large }),
  streamed: defineTool({
    ...much,
    async *stream() {
      yield large;
    },
  }),
  parts: defineTool({
    ...much,
    enhanced: true,
    execute: (): readonly Part[] => [
      { type: 'file', mediaType: 'image/png', data: 'aQ==' },
      { type: 'text', text: large },
      { type: 'file', mediaType: 'image/png', data: 'ag==' },
    ],
  }),
  partsStreamed: defineTool({
    ...much,
    enhanced: true,
    async *stream(): AsyncGenerator<Part> {
      yield { type: 'text', text: large };
    },
  }),
};
const names = Object.keys(wordy);

async function largely(backend: FileBackend, options: object = {}): Promise<TestRun> {
  const agent = agentWith({
    tools: names,
    middleware: [
      filesystem({ largeResults: true, tools: Object.fromEntries(['ls', 'write_file'].map((name) => [name, { disable: true }])) }),
    ],
  });
  const run = await startRun(agent, [{ toolCalls: names.map((name) => ({ name, id: name, input: {} })) }, { text: 'Done.' }], {
    tools: { ...fileTools({ backend }), ...wordy },
    middleware: [largeResults({ backend, tokens: 100, ...options })],
  });
  await run.outcome();
  return run;
}

describe('largeResults', () => {
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

describe.each(['run', 'worker'] as const)('TaskUpdate of tasks that are kept in the %s', (keptIn) => {
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
    const run = await startRun(
      agentWith({ tools: [], middleware: [planTask({ keptIn })] }),
      [...calls.map((call) => ({ toolCalls: [call] })), { toolCalls: [{ name: 'TaskList', input: {} }] }, { text: 'Done.' }],
      { tools: keptIn === 'run' ? {} : taskTools({ backend: memoryBackend(), baseDir: '/tasks' }) },
    );
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
