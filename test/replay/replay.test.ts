import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { replayHistories } from 'holdfast/testing';
import { readHistories } from '../../testing/history-files';
import { foldHistory } from './fold-history';

const root = join(__dirname, '..', '..');
const sets = [
  { folder: 'examples', agents: join(root, 'examples/support/agents.ts') },
  { folder: 'fixtures', agents: join(__dirname, 'fixtures/agents.ts') },
];

describe.each(sets)('histories recorded by released versions, $folder', ({ folder, agents }) => {
  const histories = join(__dirname, 'histories', folder);

  it('replay under the code of today', async () => {
    const replayed = await replayHistories({ agents, histories: join(histories, '*.json') });
    expect(replayed.filter(({ error }) => error !== undefined).map(({ id, error }) => `${id}: ${error?.message}`)).toEqual([]);
    expect(replayed.length).toBeGreaterThan(3);
  });

  it('show readers today what they showed then', async () => {
    for (const { id, path, history } of await readHistories(histories)) {
      const expected: unknown = JSON.parse(readFileSync(join(__dirname, 'expected', folder, basename(path)), 'utf8'));
      // Readers see at least what they saw when it was recorded: fields may have been added since.
      expect({ id, ...(await foldHistory(history)) }).toMatchObject({ id, ...(expected as object) });
    }
  });
});

it('a history under code that would do something else is an error that names it', async () => {
  const [waiting] = await replayHistories({
    agents: join(__dirname, 'fixtures/changed-agents.ts'),
    histories: join(__dirname, 'histories', 'examples', '*-support-waiting.json'),
  });
  expect(waiting?.id).toMatch(/support-waiting$/);
  expect(waiting?.error?.message).toMatch(/Nondeterminism/i);
  expect(waiting?.error?.code).toBe('frame-changed');
  expect(waiting?.error?.message).toMatch(/^The code after support\/t2\/model changed: it does not do again event 26 of this history \(/);
  expect(JSON.parse(JSON.stringify(waiting))).toMatchObject({ error: { code: 'frame-changed', message: waiting?.error?.message } });
});

it('a replay writes nothing of the workers that come and go for it', async () => {
  const written: string[] = [];
  const write = jest.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0);
  try {
    await replayHistories({
      agents: join(root, 'examples/support/agents.ts'),
      histories: join(__dirname, 'histories', 'examples', '*-support-waiting.json'),
    });
  } finally {
    write.mockRestore();
  }
  expect(written.join('')).toBe('');
});
