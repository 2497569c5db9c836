import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { saveHistory } from '../../cli/commands/history-commands';
import { names } from '../../contract/names';
import { replayHistories } from '../../testing/index';
import { recordedTerminal } from '../support/recorded-terminal';
import type { Temporal } from '../support/temporal';
import { openTemporal } from '../support/temporal';
import type { TestBed } from '../support/test-bed';
import { calls, fixtureAgents, fixtureBundle, script, startTestBed, testServer, text } from '../support/test-bed';

let temporal: Temporal;
let bed: TestBed;
const folder = mkdtempSync(join(tmpdir(), 'holdfast-saved-'));
const { TEMPORAL_ADDRESS: addressBefore } = process.env;
beforeAll(async () => {
  process.env['TEMPORAL_ADDRESS'] = testServer().address;
  const refund = script(calls({ id: 'a', name: 'refund', input: { orderId: '42', amount: 80 } }), text('As you like.'));
  [temporal, bed] = await Promise.all([openTemporal(), startTestBed(refund)]);
});
afterAll(async () => {
  if (addressBefore === undefined) delete process.env['TEMPORAL_ADDRESS'];
  else process.env['TEMPORAL_ADDRESS'] = addressBefore;
  rmSync(folder, { recursive: true, force: true });
  await bed.close();
  await temporal.close();
});

it('holdfast history save writes the file that -o names, with all histories of the run, and a replay takes each', async () => {
  const run = await bed.client.start('guarded', 'Refund order 42.');
  const file = join(folder, 'refund.json');
  const saved = async () => {
    const terminal = recordedTerminal({ live: false });
    expect(await saveHistory(terminal, run.id, { output: file })).toBe(0);
    expect(readdirSync(folder)).toEqual(['refund.json']);
    const replayed = await replayHistories({ agents: fixtureAgents, bundle: fixtureBundle(), histories: file, changes: 'requests' });
    expect(replayed.flatMap(({ differences }) => differences)).toEqual([]);
    return { ids: replayed.map(({ id }) => id), said: terminal.written() };
  };
  expect((await run.outcome({ timeout: '30s' })).status).toBe('waiting');
  expect(await saved()).toEqual({ ids: ['refund'], said: `${file}\n` });

  const first = await temporal.executionOf(run.id);
  await temporal.handle(run.id).signal(names.continueAsNewSignal);
  await temporal.untilAnotherExecution(run.id, first);
  await temporal.untilEntered(run.id);
  await run.cancel();
  expect((await run.outcome({ timeout: '30s' })).status).toBe('cancelled');
  await run.resume();
  const { interrupts = [] } = (await run.outcome({ timeout: '30s' })) as { interrupts?: readonly { readonly id: string }[] };
  await run.approve(interrupts[0]?.id ?? '');
  expect((await run.outcome({ timeout: '30s' })).status).toBe('completed');
  const { ids, said } = await saved();
  expect(ids).toEqual(['refund.1', 'refund.2', 'refund.3']);
  expect(said).toContain('the file has its 3 histories. `holdfast replay` compares each.');
});
