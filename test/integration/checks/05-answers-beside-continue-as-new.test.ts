import type { Run } from '../../../client/run';
import { codeOf } from '../../../contract/errors';
import { names } from '../../../contract/names';
import type { Temporal } from '../../support/temporal';
import { openTemporal } from '../../support/temporal';
import type { TestBed } from '../../support/test-bed';
import { calls, script, startTestBed, text } from '../../support/test-bed';

const callsOfARun = 24;
const atOnce = 6;
const runsAtOnce = 3;

describe('[check 5] an answer that meets a continue-as-new', () => {
  let bed: TestBed;
  let temporal: Temporal;
  beforeAll(async () => {
    const refunds = Array.from({ length: callsOfARun }, (_, amount) => ({
      id: `refund-${amount}`,
      name: 'refund',
      input: { orderId: String(amount), amount: 100 + amount },
    }));
    [temporal, bed] = await Promise.all([openTemporal(), startTestBed(script(calls(...refunds), text('Done.')))]);
  });
  afterAll(async () => {
    await bed.close();
    await temporal.close();
  });

  /** Answers all that the run asks, some at a time, while it goes on as new again and again. */
  const answered = async (run: Run): Promise<readonly unknown[]> => {
    await run.outcome({ timeout: '60s' });
    const ids = (await run.interrupts()).map(({ id }) => id);
    const problems: unknown[] = [];
    let answering = true;
    const borders = (async () => {
      while (answering) {
        const before = await temporal.executionOf(run.id);
        await temporal.handle(run.id).signal(names.continueAsNewSignal);
        while (answering && (await temporal.executionOf(run.id)) === before) await Promise.resolve();
      }
    })().catch(() => undefined);
    // What comes in while the run is about to go on as new lets that task fail, and with it the answers that it has.
    const disturbance = (async () => {
      while (answering) await temporal.handle(run.id).signal(names.resumeSignal, { interruptId: 'none', answer: 1 });
    })().catch(() => undefined);
    const answerer = async (): Promise<void> => {
      for (let id = ids.shift(); id !== undefined; id = ids.shift())
        await run
          .approve(id)
          .catch((error: unknown) => problems.push([codeOf(error), String((error as { cause?: unknown }).cause ?? error)]));
    };
    await Promise.all(Array.from({ length: atOnce }, answerer));
    answering = false;
    await disturbance;
    await borders;
    return problems;
  };

  it('is taken, and whoever gave it hears that it was', async () => {
    const runs = await Promise.all(Array.from({ length: runsAtOnce }, () => bed.client.start('guarded', 'hello')));
    const problems = await Promise.all(runs.map(answered));
    expect(problems.flat()).toEqual([]);
    for (const run of runs) expect(await run.outcome({ timeout: '60s' })).toMatchObject({ status: 'completed' });
  }, 120_000);
});
