import type { GenerateAnswer } from '../../activities/models/models';
import { names } from '../../contract/names';
import type { Temporal } from '../support/temporal';
import { openTemporal } from '../support/temporal';
import { calls, script, startTestBed, text } from '../support/test-bed';

let temporal: Temporal;
beforeAll(async () => {
  temporal = await openTemporal();
});
afterAll(() => temporal.close());

it('a run that was cancelled before its last answer came is cancelled, also when the model does not hear of it', async () => {
  let asked: () => void = () => undefined;
  let answer: (answer: GenerateAnswer) => void = () => undefined;
  const isAsked = new Promise<void>((resolve) => (asked = resolve));
  const bed = await startTestBed(() => {
    asked();
    return new Promise<GenerateAnswer>((resolve) => (answer = resolve));
  });
  const run = await bed.client.start('plain', 'hello');
  await isAsked;
  await run.cancel();
  answer(text('Done.'));
  expect(await run.outcome({ timeout: '30s' })).toMatchObject({ status: 'cancelled' });
  await bed.close();
});

it('whoever gave an answer that comes again after a continue-as-new hears that it was taken', async () => {
  const many = calls({ id: 'a', name: 'ask', input: { question: 'One?' } }, { id: 'b', name: 'ask', input: { question: 'Two?' } });
  const bed = await startTestBed(script(many, text('Done.')));
  const run = await bed.client.start('plain', 'hello');
  await run.outcome({ timeout: '30s' });
  const [first] = await run.interrupts();
  const sent = { interruptId: first?.id, answer: { answer: 'yes' }, delivery: 'one' };
  const handle = temporal.handle(run.id);
  await handle.executeUpdate(names.resumeUpdate, { args: [sent] });
  const execution = await temporal.executionOf(run.id);
  await handle.signal(names.continueAsNewSignal);
  await temporal.untilAnotherExecution(run.id, execution);
  await expect(handle.executeUpdate(names.resumeUpdate, { args: [sent] })).resolves.toMatchObject({ sequence: 1 });
  await expect(handle.executeUpdate(names.resumeUpdate, { args: [{ ...sent, delivery: 'two' }] })).rejects.toThrow(
    'Workflow Update failed',
  );
  await run.cancel();
  await bed.close();
});

it('whoever cancelled a run hears what became of that, also when it was resumed before they asked, and cancelled again', async () => {
  const asks = calls({ id: 'a', name: 'ask', input: { question: 'One?' } });
  const bed = await startTestBed(script(asks, text('Done.')));
  const run = await bed.client.start('plain', 'hello');
  await run.outcome({ timeout: '30s' });
  const first = await run.cancel({ by: 'ada' });
  await run.outcome({ timeout: '30s' });
  await run.resume();
  await run.outcome({ timeout: '30s' });
  const second = await run.cancel({ mode: 'after-tools', by: 'bob' });
  await run.outcome({ timeout: '30s' });
  await run.resume();
  await run.outcome({ timeout: '30s' });
  const [question] = await run.interrupts();
  await run.resume(question?.id ?? '', { answer: 'yes' });
  expect(await run.outcome({ timeout: '30s' })).toMatchObject({ status: 'completed' });
  expect([await first.settled(), await second.settled()]).toEqual(['in-time', 'in-time']);
  await bed.close();
});
