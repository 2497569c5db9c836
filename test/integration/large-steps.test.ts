import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Run } from '../../client/runs/run';
import type { Interrupt } from '../../contract/interrupts';
import { names } from '../../contract/names';
import { DirectoryDriver, snapshotStorage } from '../../host/snapshot-storage';
import { logOf } from '../support/server-logs';
import { sharedBed } from '../support/shared-bed';
import { calls, script, text } from '../support/test-bed';

const bed = sharedBed();
/** Stores values too large for a continue-as-new. */
const dataConverter = snapshotStorage(new DirectoryDriver(mkdtempSync(join(tmpdir(), 'holdfast-large-'))));
const storing = sharedBed({ dataConverter });

/** A run waits from the first question on, so later questions may be missing. */
async function asked(run: Run, count: number): Promise<readonly Interrupt[]> {
  for (;;) {
    const { interrupts } = await run.view();
    if (interrupts.length === count) return interrupts;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

it('the lead of a team asks its model with the whole conversation after a continue-as-new', async () => {
  const asked: number[] = [];
  let atSecond: () => void = () => undefined;
  let goOn: () => void = () => undefined;
  const second = new Promise<void>((resolve) => (atSecond = resolve));
  const crossing = new Promise<void>((resolve) => (goOn = resolve));
  const model = bed.scripted(async ({ messages }) => {
    asked.push(messages.length);
    if (asked.length === 2) {
      atSecond();
      await crossing;
    }
    return asked.length < 4 ? calls({ id: `call-${asked.length}`, name: 'echo', input: { text: 'x' } }) : text('Done.');
  });
  const run = await model.start('lead', 'hello');
  await second;
  const execution = await bed.temporal.executionOf(run.id);
  await bed.temporal.handle(run.id).signal(names.continueAsNewSignal);
  goOn();
  expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(await bed.temporal.executionOf(run.id)).not.toBe(execution);
  expect(asked).toEqual([1, 3, 5, 7]);
});

it('seventeen results of 250 KB from tools of the run itself come back in one step', async () => {
  const many = Array.from({ length: 17 }, (_, n) => ({ id: `big-${n}`, name: 'big', input: { n: n % 10 } }));
  const model = bed.scripted(script(calls(...many, { id: 'beside', name: 'echo', input: { text: 'x' } }), text('Done.')));
  const run = await model.start('bulky', 'hello');
  expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
  const results = (await run.transcript()).filter(({ role }) => role === 'tool');
  expect(results.map(({ parts }) => JSON.stringify(parts).length > 250_000)).toEqual([...many.map(() => true), false]);
});

it('twenty-four answers of 200 KB that came while no worker was there are all taken when one comes', async () => {
  const many = Array.from({ length: 24 }, (_, n) => ({ id: `ask-${n}`, name: 'ask', input: { question: `Question ${n}?` } }));
  const run = await storing.scripted(script(calls(...many), text('Done.'))).start('bulky', 'hello');
  const interrupts = await asked(run, many.length);
  await storing.stopWorker();
  const handle = storing.temporal.handle(run.id);
  for (const [n, { id }] of interrupts.entries())
    await handle.signal(names.answerSignal, { interruptId: id, answer: { answer: String(n % 10).repeat(200_000) }, by: 'ada' });
  await storing.startWorker();
  expect(await run.result()).toBe('Done.');
  const ends = (await logOf(run)).filter(({ type }) => type === 'interrupt-end');
  expect(ends).toHaveLength(many.length);
});
