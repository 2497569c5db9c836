import type { Run } from '../../client/run';
import type { Interrupt } from '../../contract/interrupts';
import { lineOf } from '../support/memory-bed';
import { sharedBed } from '../support/shared-bed';
import { eventually } from '../support/temporal';
import { calls, script, text } from '../support/test-bed';

/** Callbacks in the sandbox, on a server: what they do stands in the history. */

const bed = sharedBed();
const echoes = ['a', 'b'].map((id) => ({ id, name: 'echo', input: { text: id } }));
const model = bed.scripted(script(calls(...echoes), text('Done.')));

/** Starts a run, and waits until its callbacks ask about both calls. */
async function asking(): Promise<{ readonly run: Run; readonly waiting: readonly Interrupt[] }> {
  const run = await model.start('called', 'Hi');
  await eventually(async () => expect(await run.interrupts()).toHaveLength(2));
  return { run, waiting: await run.interrupts() };
}

async function linesOf(run: Run): Promise<readonly string[]> {
  return (await run.transcript()).map(lineOf);
}

it('callbacks of every place do their work around parallel calls, and over a continue-as-new', async () => {
  const { run, waiting } = await asking();
  await bed.temporal.goOnAsNew(run.id);
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

it('a cancel while callbacks ask is no error of theirs', async () => {
  const { run } = await asking();
  await run.cancel();
  expect(await run.outcome()).toEqual({ status: 'cancelled' });
  expect(await linesOf(run)).toEqual(['user: Hi', 'assistant: echo({"text":"a"}) echo({"text":"b"})']);
});
