import type { RunEvent } from '../../contract/events';
import { scriptedModel, testRun } from '../../testing/index';
import type { TestRun } from '../../testing/index';
import type { FileBackend } from '../../middleware/filesystem/worker/backend';
import { agentsMdTool } from '../../middleware/agents-md/worker';
import { memoryBackend } from '../../middleware/filesystem/worker/memory-backend';
import type { AgentMiddleware, Json, Message } from '../../workflows/index';
import type { AgentsMdOptions } from '../../middleware/index';
import { agentsMd } from '../../middleware/index';
import { textOf } from '../../workflows/index';
import { agentUnder, echo, logOf, tools as others } from '../support/memory-bed';

interface Read {
  readonly run: TestRun;
  readonly sent: readonly Message[];
  readonly warnings: readonly string[];
  readonly reads: readonly string[];
}

interface Given extends Partial<AgentsMdOptions> {
  readonly input?: Json;
  readonly turns?: number;
  readonly behind?: readonly AgentMiddleware[];
  readonly backend?: FileBackend;
}

async function read(files: Readonly<Record<string, string>>, given: Given = {}): Promise<Read> {
  const { input = 'Hi', turns = 1, behind = [], backend = memoryBackend(files), ...options } = given;
  const reads: string[] = [];
  const watched = { read: (path: string) => (reads.push(path), backend.read(path)) };
  const calls = Array.from({ length: turns - 1 }, () => ({ toolCalls: [echo('x')] }));
  const model = scriptedModel([...calls, { text: 'Done.' }]);
  const run = await testRun(agentUnder(...behind, agentsMd({ files: ['/AGENTS.md'], ...options })), {
    input,
    model,
    tools: { ...others, agents_md: agentsMdTool({ backend: watched }) },
  });
  const log: readonly RunEvent[] = await logOf(run);
  const warnings = log.flatMap((event) =>
    event.type === 'custom' && event.name === 'agents-md-warning' ? [String((event.data as { warning?: unknown }).warning)] : [],
  );
  return { run, sent: model.requests.at(-1)?.messages ?? [], warnings, reads };
}

const shown = (messages: readonly Message[]): readonly string[] => messages.map((message) => `${message.role}: ${textOf(message)}`);
const reminder = (messages: readonly Message[]): string => textOf(messages.find(({ extra }) => extra?.['agentsMd'] === true)!);
const sections = (messages: readonly Message[]): readonly string[] =>
  [...reminder(messages).matchAll(/^Contents of (.*) \(instructions\):$/gm)].map(([, path = '']) => path);
const chain = (levels: number): Record<string, string> => {
  const files: Record<string, string> = { '/AGENTS.md': 'level 0, then @l1.md' };
  for (let level = 1; level <= levels; level++)
    files[`/l${level}.md`] = `level ${level}${level < levels ? `, then @l${level + 1}.md` : ''}`;
  return files;
};

it('[eino 222] files of instructions stand in one block before the first message of the user, once', async () => {
  const { sent, reads } = await read({ '/AGENTS.md': 'Be kind.', '/b.md': 'Be brief.' }, { files: ['/AGENTS.md', '/b.md'], turns: 3 });
  expect(sent.map(({ role }) => role)).toEqual(['user', 'user', 'assistant', 'tool', 'assistant', 'tool']);
  expect(reminder(sent).match(/<\/?system-reminder>/g)).toEqual(['<system-reminder>', '</system-reminder>']);
  expect(sections(sent)).toEqual(['/AGENTS.md', '/b.md']);
  expect(reads).toEqual(['/AGENTS.md', '/b.md']);
});

it('[eino 222] with system messages they stand behind those, and without a user at the end', async () => {
  const said = (role: 'system' | 'user' | 'assistant', text: string): Json => ({ role, parts: [{ type: 'text', text }] });
  const behindSystem = await read({ '/AGENTS.md': 'Be kind.' }, { input: [said('system', 'one'), said('user', 'two')] });
  expect(behindSystem.sent.map(({ role }) => role)).toEqual(['system', 'user', 'user']);
  const noUser = await read({ '/AGENTS.md': 'Be kind.' }, { input: [said('assistant', 'one')] });
  expect(noUser.sent.map(({ role }) => role)).toEqual(['assistant', 'user']);
});

it('[eino 222] they are put in again, unread, when something removed them', async () => {
  const forgetful: AgentMiddleware = {
    name: 'forgetful',
    beforeModelRewriteState: ({ messages }) => ({ messages: messages.filter(({ extra }) => extra === undefined) }),
  };
  const { sent, reads, run } = await read({ '/AGENTS.md': 'Be kind.' }, { turns: 3, behind: [forgetful] });
  expect(shown(sent).filter((line) => line.includes('Be kind.'))).toHaveLength(1);
  expect(reads).toEqual(['/AGENTS.md']);
  expect(shown(await run.transcript()).filter((line) => line.includes('Be kind.'))).toHaveLength(1);
});

it('[eino 294] each file has its section, and the text of an import stays', async () => {
  const { sent } = await read({ '/AGENTS.md': 'Style: see @docs/style.md.\n', '/docs/style.md': 'Two spaces.\n' });
  expect(reminder(sent)).toBe(
    `<system-reminder>
The files below hold instructions for your work here. Follow them as they are written, also where you would do otherwise by yourself.

Contents of /AGENTS.md (instructions):

Style: see @docs/style.md.

Contents of /docs/style.md (instructions):

Two spaces.
</system-reminder>`,
  );
});

it('[eino 296] imports go five levels deep', async () => {
  const { sent, warnings } = await read(chain(6));
  expect(sections(sent)).toEqual(['/AGENTS.md', '/l1.md', '/l2.md', '/l3.md', '/l4.md', '/l5.md']);
  expect(warnings).toEqual(['import of /l6.md skipped: it is more than 5 levels deep']);
});

it('[eino 296] circles are left out with a warning, and a file that is imported twice stands once', async () => {
  const circle = await read({ '/AGENTS.md': '@a.md @b.md', '/a.md': '@AGENTS.md', '/b.md': '@a.md' });
  expect(sections(circle.sent)).toEqual(['/AGENTS.md', '/a.md', '/b.md']);
  expect(circle.warnings).toEqual(['circular import of /AGENTS.md skipped: /AGENTS.md -> /a.md -> /AGENTS.md']);
});

it('[eino 297] an at sign in prose imports nothing', async () => {
  const prose = 'Ask @name or user@example.com, a bare @ too, @company.org and @name, please.';
  const { sent, warnings, reads } = await read({ '/AGENTS.md': prose });
  expect(sections(sent)).toEqual(['/AGENTS.md']);
  expect([warnings, reads]).toEqual([[], ['/AGENTS.md']]);
});

it('[eino 298] the first file is whole, later ones and imports are left out over the limit', async () => {
  const files = { '/AGENTS.md': `${'x'.repeat(30)} @i.md`, '/i.md': 'y'.repeat(10), '/b.md': 'z', '/c.md': 'z'.repeat(40) };
  const tight = await read(files, { files: ['/AGENTS.md', '/b.md', '/c.md'], maxBytes: 20 });
  expect(sections(tight.sent)).toEqual(['/AGENTS.md']);
  expect(tight.warnings).toHaveLength(3);
  const wider = await read(files, { files: ['/AGENTS.md', '/b.md', '/c.md'], maxBytes: 50 });
  expect(sections(wider.sent)).toEqual(['/AGENTS.md', '/i.md', '/b.md']);
  expect(wider.warnings).toEqual(['/c.md skipped: with its 40 bytes the files would have more than 50']);
});

it('[eino 299] a missing file is a warning, and nothing is put in when there is none', async () => {
  const { sent, warnings } = await read({ '/b.md': 'Be brief. @gone.md' }, { files: ['/AGENTS.md', '/b.md'] });
  expect(sections(sent)).toEqual(['/b.md']);
  expect(warnings).toEqual(['/AGENTS.md not found', '/gone.md not found']);
  const none = await read({}, { turns: 2 });
  expect(none.sent.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  expect(none.reads).toEqual(['/AGENTS.md']);
});

it.each(['/AGENTS.md', '/import.md'])('[eino 299] a file that cannot be read ends the run: %s', async (broken) => {
  const files = memoryBackend({ '/AGENTS.md': '@import.md', '/import.md': '' });
  const backend: FileBackend = {
    ...files,
    read: (path) => (path === broken ? Promise.reject(new Error('disk broken')) : files.read(path)),
  };
  const { run } = await read({}, { backend });
  expect(await run.outcome()).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining(`failed to load agent files: ${broken}: disk broken`) },
  });
});
