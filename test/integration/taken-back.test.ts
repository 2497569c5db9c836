import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recordHistory, replayHistories } from '../../testing/index';
import { calls, fixtureAgents, fixtureBundle, script, startTestBed, testServer, text } from '../support/test-bed';

it('a replay does not count a timer that ends in the task in which it begins: no history has it', async () => {
  const bed = await startTestBed(script(calls({ id: 'a', name: 'refund', input: { orderId: '42', amount: 80 } }), text('Done.')));
  try {
    const run = await bed.client.start('guarded', 'Refund order 42.');
    expect((await run.outcome({ timeout: '30s' })).status).toBe('waiting');
    // The time of the request is looked up first, then its deadline begins, and the run that waits for somebody ends at once.
    await run.cancel({ mode: 'after-tools', within: '2s' });
    expect((await run.outcome({ timeout: '30s' })).status).toBe('cancelled');
    const histories = join(mkdtempSync(join(tmpdir(), 'holdfast-taken-back-')), 'run.json');
    await recordHistory({ id: run.id, server: testServer(), file: histories });
    const replayed = await replayHistories({ agents: fixtureAgents, bundle: fixtureBundle(), histories, changes: 'requests' });
    expect(replayed.flatMap(({ differences }) => differences)).toEqual([]);
  } finally {
    await bed.close();
  }
});
