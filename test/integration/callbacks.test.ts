import type { Run } from '../../client/run';
import { lineOf } from '../support/memory-bed';
import type { Temporal } from '../support/temporal';
import { eventually, openTemporal } from '../support/temporal';
import type { TestBed } from '../support/test-bed';
import { calls, script, startTestBed, text } from '../support/test-bed';

/** Callbacks in the sandbox, on a server: what they do stands in the history. */

let bed: TestBed;
let temporal: Temporal;

beforeAll(async () => {
  temporal = await openTemporal();
  bed = await startTestBed(
    script(calls({ id: 'a', name: 'echo', input: { text: 'a' } }, { id: 'b', name: 'echo', input: { text: 'b' } }), text('Done.')),
  );
});
afterAll(async () => {
  await temporal.close();
  await bed.close();
});

async function linesOf(run: Run): Promise<readonly string[]> {
  return (await run.transcript()).map(lineOf);
}

it('callbacks of every place do their work around parallel calls, and over a continue-as-new', async () => {
  const run = await bed.client.start('called', 'Hi');
  await eventually(async () => expect((await run.interrupts()).map(({ id }) => id)).toHaveLength(2));
  const waiting = await run.interrupts();
  const before = await temporal.executionOf(run.id);
  await temporal.handle(run.id).signal('continue-as-new');
  await temporal.untilAnotherExecution(run.id, before);
  for (const { id } of [...waiting].reverse()) await run.resume(id, true);
  expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done. (checked)' });
  expect(await linesOf(run)).toEqual([
    'user: Hi',
    'assistant: echo({"text":"a"}) echo({"text":"b"})',
    'tool: {"said":{"text":"a"},"result":"a!"}',
    'tool: {"said":{"text":"b"},"result":"b!"}',
    'assistant: Done. (checked)',
    'assistant: A footer.',
  ]);
});

it('an answer before the agent needs no model', async () => {
  const run = await bed.client.start('called', '/abort');
  expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Aborted.' });
  expect(await linesOf(run)).toEqual(['user: /abort', 'assistant: Aborted.']);
});

it('a StopError is the failure of the run, and what is appended behind it is there', async () => {
  const run = await bed.client.start('called', '/stop');
  expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'stopped', message: 'gate: no budget' } });
  expect(await linesOf(run)).toEqual(['user: /stop', 'assistant: An apology.']);
});

it('a stop makes no call that was asked for in its task, and takes nothing of what was said with it', async () => {
  const run = await bed.client.start('halted', 'Hi');
  expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'stopped' } });
  expect((await linesOf(run)).slice(0, 2)).toEqual(['user: Hi', 'assistant: echo({"text":"a"}) echo({"text":"b"})']);
  const starts = [];
  for await (const event of run.events({ deltas: false })) if (event.type === 'tool-start') starts.push(event.callId);
  expect(starts).toEqual([]);
});

it('a cancel while callbacks ask is no error of theirs', async () => {
  const run = await bed.client.start('called', 'Hi');
  await eventually(async () => expect((await run.interrupts()).map(({ id }) => id)).toHaveLength(2));
  await run.cancel();
  expect(await run.outcome()).toEqual({ status: 'cancelled' });
  expect(await linesOf(run)).toEqual(['user: Hi', 'assistant: echo({"text":"a"}) echo({"text":"b"})']);
});
