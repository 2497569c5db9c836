import type { GenerateAnswer, GenerateRequest } from '../../activities/models/language-model';
import type { Run } from '../../client/runs/run';
import { codeOf } from '../../contract/errors';
import type { Message } from '../../contract/messages/messages';
import { textOf } from '../../contract/messages/messages';
import type { Gate } from '../support/gate';
import { gate } from '../support/gate';
import { sharedBed } from '../support/shared-bed';
import { eventually } from '../support/temporal';
import { calls, text } from '../support/test-bed';

let held: Gate | undefined;

async function answer({ messages }: GenerateRequest): Promise<GenerateAnswer> {
  const job = textOf(messages[0] as Message);
  const turn = messages.filter(({ role }) => role === 'assistant').length;
  if (turn === 0 && job === 'refund') return calls({ name: 'refund', input: { orderId: '42', amount: 80 } });
  if (turn === 0 && job === 'echo first') {
    await held?.pass();
    return calls({ name: 'echo', input: { text: 'x' } });
  }
  if (job === 'hold') await held?.pass();
  return text('Done.');
}

describe('an upgrade', () => {
  const bed = sharedBed();
  const model = bed.scripted(answer);
  afterEach(async () => {
    held?.open();
    held = undefined;
    await bed.startWorker();
  });

  const code = (upgrading: Promise<unknown>): Promise<unknown> => upgrading.then((receipt) => receipt, codeOf);
  const waiting = async (agent: string, input: string): Promise<Run> => {
    const run = await model.start(agent, input);
    expect((await run.outcome()).status).toBe('waiting');
    return run;
  };
  const onItsWay = async (input: string): Promise<Run> => {
    held = gate();
    const run = await model.start('plain', input);
    await held.reached;
    return run;
  };
  const asked = (run: Run): Promise<void> =>
    eventually(async () => {
      const { events } = await bed.temporal.handle(run.id).fetchHistory();
      expect((events ?? []).some((event) => event.workflowExecutionUpdateAcceptedEventAttributes)).toBe(true);
    });

  it('of a run that waits says that there is no newer build, and the run goes on', async () => {
    const run = await waiting('guarded', 'refund');
    expect(await run.upgrade()).toEqual({ build: bed.worker.buildId, moved: false });
    await run.approve((await run.interrupts())[0]?.id ?? '');
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
  });

  it('of a run with a call on its way is answered when the call has come back', async () => {
    const run = await onItsWay('echo first');
    const upgrading = code(run.upgrade());
    await asked(run);
    held?.open();
    expect(await upgrading).toEqual({ build: bed.worker.buildId, moved: false });
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
  });

  it('of a run with a call on its way is refused in time, and the run goes on', async () => {
    const run = await onItsWay('echo first');
    expect(await code(run.upgrade({ timeout: '1s' }))).toBe('upgrade-failed');
    held?.open();
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
  });

  it('of a run that ends before it comes to a place where it can move says so, also when it is cancelled', async () => {
    const run = await onItsWay('hold');
    const upgrading = code(run.upgrade());
    await asked(run);
    held?.open();
    expect(await upgrading).toBe('run-ended');
    const cancelled = await onItsWay('hold');
    const late = code(cancelled.upgrade());
    await asked(cancelled);
    await cancelled.cancel();
    expect(await late).toBe('run-ended');
  });

  it('of a run with isolated agents is refused in time, of such an agent at once, and both go on', async () => {
    const run = await waiting('pair', 'Go.');
    expect(await code(run.upgrade({ timeout: '1s' }))).toBe('upgrade-failed');
    const own = bed.client.run(`${run.id}~asks`);
    await expect(own.upgrade()).rejects.toMatchObject({
      code: 'upgrade-failed',
      message: expect.stringContaining(`Upgrade "${run.id}"`) as string,
    });
    await run.resume((await run.interrupts())[0]?.id ?? '', 'yes');
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(await code(own.upgrade())).toBe('run-ended');
  });

  it('of a run that has ended, whatever way, or that there is not, is refused', async () => {
    const done = await model.start('plain', 'Go.');
    await done.result();
    const terminated = await waiting('guarded', 'refund');
    await terminated.terminate();
    for (const run of [done, terminated]) expect(await code(run.upgrade())).toBe('run-ended');
    expect(await code(bed.client.run('there-is-none').upgrade())).toBe('run-unknown');
    expect(await code(done.upgrade({ timeout: 'soon' }))).toBe('request-invalid');
  });

  it('of a run that no worker serves is refused in time, and the run goes on when one comes', async () => {
    const run = await waiting('guarded', 'refund');
    const interrupts = await run.interrupts();
    await bed.stopWorker();
    expect(await code(run.upgrade({ timeout: '1s' }))).toBe('upgrade-failed');
    expect(await run.interrupts()).toEqual(interrupts);
    await bed.startWorker();
    await run.approve(interrupts[0]?.id ?? '');
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
  });
});
