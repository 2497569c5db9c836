import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { saveHistory } from '../../cli/commands/history-commands';
import { recordHistory, replayHistories } from '../../testing/index';
import { recordedTerminal } from '../support/recorded-terminal';
import { sharedBed } from '../support/shared-bed';
import { calls, fixtureAgents, fixtureBundle, script, testServer, text } from '../support/test-bed';

const bed = sharedBed();
const model = bed.scripted(script(calls({ id: 'a', name: 'refund', input: { orderId: '42', amount: 80 } }), text('As you like.')));
const folder = mkdtempSync(join(tmpdir(), 'holdfast-saved-'));
const { TEMPORAL_ADDRESS: addressBefore } = process.env;
beforeAll(() => {
  process.env['TEMPORAL_ADDRESS'] = testServer().address;
});
afterAll(() => {
  if (addressBefore === undefined) delete process.env['TEMPORAL_ADDRESS'];
  else process.env['TEMPORAL_ADDRESS'] = addressBefore;
  rmSync(folder, { recursive: true, force: true });
});

it('holdfast history save writes the file that -o names, with all histories of the run, and a replay takes each', async () => {
  const run = await model.start('guarded', 'Refund order 42.');
  const file = join(folder, 'refund.json');
  const saved = async () => {
    const terminal = recordedTerminal({ live: false });
    expect(await saveHistory(terminal, run.id, { output: file })).toBe(0);
    expect(readdirSync(folder)).toEqual(['refund.json']);
    const replayed = await replayHistories({ agents: fixtureAgents, bundle: fixtureBundle(), histories: file, changes: 'requests' });
    expect(replayed.flatMap(({ differences }) => differences)).toEqual([]);
    return { ids: replayed.map(({ id }) => id), said: terminal.written() };
  };
  expect((await run.outcome()).status).toBe('waiting');
  expect(await saved()).toEqual({ ids: ['refund'], said: `${file}\n` });

  await bed.temporal.goOnAsNew(run.id);
  await bed.temporal.untilEntered(run.id);
  await run.cancel();
  expect((await run.outcome()).status).toBe('cancelled');
  await run.resume();
  const { interrupts = [] } = (await run.outcome()) as { interrupts?: readonly { readonly id: string }[] };
  await run.approve(interrupts[0]?.id ?? '');
  expect((await run.outcome()).status).toBe('completed');
  const { ids, said } = await saved();
  expect(ids).toEqual(['refund.1', 'refund.2', 'refund.3']);
  expect(said).toContain('the file has its 3 histories. `holdfast replay` compares each.');
});

it('a replay does not count a timer that ends in the task in which it begins: no history has it', async () => {
  const run = await model.start('guarded', 'Refund order 42.');
  expect((await run.outcome()).status).toBe('waiting');
  const cancelling = await run.cancel({ mode: 'after-tools', within: '2s' });
  expect(await cancelling.settled()).toBe('in-time');
  const histories = join(mkdtempSync(join(tmpdir(), 'holdfast-taken-back-')), 'run.json');
  await recordHistory({ id: run.id, server: testServer(), file: histories });
  const replayed = await replayHistories({ agents: fixtureAgents, bundle: fixtureBundle(), histories, changes: 'requests' });
  expect(replayed.flatMap(({ differences }) => differences)).toEqual([]);
});
