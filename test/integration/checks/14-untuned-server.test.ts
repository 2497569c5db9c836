import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recordHistory, replayHistories } from 'holdfast/testing';
import { z } from 'zod';
import type { Outcome } from '../../../client/reading/outcome';
import { defineTool } from '../../../activities/tools/tools';
import { names } from '../../../contract/names';
import { DirectoryDriver, snapshotStorage } from '../../../host/snapshot-storage';
import { fixtureTools } from '../../fixtures/tools';
import { gate } from '../../support/gate';
import { openTemporal } from '../../support/temporal';
import { calls, fixtureAgents, fixtureBundle, script, startTestBed, testServer, text } from '../../support/test-bed';

/** What a run of that size goes on with needs storage, as documented. */
const storage = mkdtempSync(join(tmpdir(), 'holdfast-check-14-'));
const dataConverter = snapshotStorage(new DirectoryDriver(storage));
afterAll(() => rmSync(storage, { recursive: true }));

function statusOf(outcome: Outcome<unknown>): string {
  return outcome.status === 'failed' ? `${outcome.error.code}: ${outcome.error.message}` : outcome.status;
}

/** Decisions about room are made again when a run is replayed. */
async function replays(id: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-check-14-'));
  await recordHistory({ id, file: join(folder, 'run.json'), server: testServer() });
  const replayed = await replayHistories({ agents: fixtureAgents, bundle: fixtureBundle(), histories: join(folder, '*.json') });
  rmSync(folder, { recursive: true });
  expect(replayed.map(({ error }) => error?.message)).toEqual(replayed.map(() => undefined));
}

/** The server of the tests has the limit of 4 MB that a server has by itself. */
describe('[check 14] a run within the documented limits ends on a server that nobody tuned', () => {
  it('sixteen agents at once whose messages have three calls of 280 KB each', async () => {
    const echo = defineTool({
      description: 'Counts.',
      inputSchema: z.object({ text: z.string() }),
      execute: ({ text: said }) => said.length,
    });
    const three = Array.from({ length: 3 }, (_, n) => ({ id: `large-${n}`, name: 'echo', input: { text: String(n).repeat(280 * 1024) } }));
    const bed = await startTestBed(script(calls(...three), text('Done.')), { tools: { ...fixtureTools, echo }, dataConverter });
    const run = await bed.client.start('bulkyCrowd', 'hello');
    expect(statusOf(await run.outcome({ timeout: '50s' }))).toBe('completed');
    const ends = (await run.transcript()).filter(({ role }) => role === 'tool');
    expect(ends).toHaveLength(48);
    await bed.close();
  });

  it('ten calls of 280 KB beside signals of 1.7 MB that come while their task is at work', async () => {
    const atWork = gate();
    const echo = defineTool({
      description: 'Counts.',
      inputSchema: z.object({ text: z.string() }),
      execute: ({ text: said }) => said.length,
    });
    const swift = defineTool({
      description: 'Holds the task.',
      inputSchema: z.object({ letter: z.string(), times: z.number() }),
      quick: true,
      execute: async () => {
        await atWork.pass();
        return 'on';
      },
    });
    const ten = Array.from({ length: 10 }, (_, n) => ({ id: `large-${n}`, name: 'echo', input: { text: String(n) } }));
    const first = { id: 'hold', name: 'swift', input: { letter: 'x', times: 1 } };
    const bed = await startTestBed(script(calls(first, ...ten), text('Done.')), { tools: { ...fixtureTools, echo, swift }, dataConverter });
    const run = await bed.client.start('swelling', 'hello');
    await atWork.reached;
    const temporal = await openTemporal();
    for (let n = 0; n < 7; n += 1)
      await temporal.handle(run.id).signal(names.resumeSignal, { interruptId: `none-${n}`, answer: String(n).repeat(250_000) });
    atWork.open();
    expect(statusOf(await run.outcome({ timeout: '50s' }))).toBe('completed');
    await replays(run.id);
    await temporal.close();
    await bed.close();
  });

  it('sixteen agents at once whose calls have results of 250 KB', async () => {
    const echo = defineTool({
      description: 'Says much.',
      inputSchema: z.object({ text: z.string() }),
      execute: ({ text: said }) => said.repeat(250_000),
    });
    const three = Array.from({ length: 3 }, (_, n) => ({ id: `many-${n}`, name: 'echo', input: { text: String(n) } }));
    const bed = await startTestBed(script(calls(...three), text('Done.')), { tools: { ...fixtureTools, echo }, dataConverter });
    const run = await bed.client.start('bulkyCrowd', 'hello');
    expect(statusOf(await run.outcome({ timeout: '50s' }))).toBe('completed');
    await bed.close();
  });

  it('seventeen results of 250 KB from quick tools of one message', async () => {
    const many = Array.from({ length: 17 }, (_, n) => ({
      id: `swift-${n}`,
      name: 'swift',
      input: { letter: String(n % 10), times: 250_000 },
    }));
    const bed = await startTestBed(({ messages }) => (messages.some(({ role }) => role === 'tool') ? text('Done.') : calls(...many)));
    const run = await bed.client.start('hasty', 'hello');
    expect(statusOf(await run.outcome({ timeout: '50s' }))).toBe('completed');
    await replays(run.id);
    await bed.close();
  });
});
