import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replayHistories } from 'holdfast/testing';
import { readHistories } from '../../host/history/history-files';
import { madeBundle } from '../support/made-bundle';
import { foldHistory } from './fold-history';

const root = join(__dirname, '..', '..');
const sets = [
  { folder: 'examples', agents: join(root, 'examples/support/agents.ts') },
  { folder: 'fixtures', agents: join(__dirname, 'fixtures/agents.ts') },
];

describe.each(sets)('histories recorded by released versions, $folder', ({ folder, agents }) => {
  const histories = join(__dirname, 'histories', folder);

  it('replay under the code of today', async () => {
    const replayed = await replayHistories({ agents, bundle: await madeBundle(agents), histories: join(histories, '*.json') });
    expect(replayed.filter(({ error }) => error !== undefined).map(({ id, error }) => `${id}: ${error?.message}`)).toEqual([]);
    expect(replayed.length).toBeGreaterThan(3);
  });

  it('show readers today what they showed then', async () => {
    for (const { id, history } of await readHistories(histories)) {
      const expected: unknown = JSON.parse(readFileSync(join(__dirname, 'expected', folder, `${id}.json`), 'utf8'));
      // Readers see at least the recorded fields; new fields may have been added.
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
  expect(waiting?.error?.message).toMatch(/^The code after support\/t2\/model changed: it does not do again event 29 of this history \(/);
  expect(JSON.parse(JSON.stringify(waiting))).toMatchObject({ error: { code: 'frame-changed', message: waiting?.error?.message } });
});

it('nothing differs in what those of today ask for', async () => {
  for (const { folder, agents } of sets) {
    const histories = join(__dirname, 'histories', folder);
    const replayed = await replayHistories({ agents, bundle: await madeBundle(agents), histories, changes: 'requests' });
    expect(replayed.flatMap(({ id, differences }) => differences.map(({ message }) => `${id}: ${message}`))).toEqual([]);
  }
});

it('a replay writes no line of Temporal, also where it fails, and a worker that starts after it logs as always', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-quiet-'));
  const program = join(root, 'dist', 'test', 'replay', 'fixtures', 'quiet-process.js');
  const changed = join(root, 'dist', 'test', 'replay', 'fixtures', 'changed-agents.js');
  const histories = join(__dirname, 'histories', 'examples', '*-support-*.json');
  try {
    const child = spawn(process.execPath, [program, changed, histories, folder, process.env['HOLDFAST_TEST_ADDRESS'] ?? '']);
    const written = { out: '', error: '' };
    child.stdout.on('data', (text) => (written.out += String(text)));
    child.stderr.on('data', (text) => (written.error += String(text)));
    await once(child, 'close');
    const [before, after] = written.error.split('replayed: frame-changed frame-changed frame-changed\n');
    expect([written.out, before]).toEqual(['', '']);
    expect(after).toMatch(/Worker state changed/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
