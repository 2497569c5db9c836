import { randomUUID } from 'node:crypto';
import { temporal as temporalProtocol } from '@temporalio/proto';
import type { HoldfastClient } from '../../../client/connect';
import { connect } from '../../../client/connect';
import type { Run } from '../../../client/run';
import { names } from '../../../contract/names';
import type { Temporal } from '../../support/temporal';
import { eventually, openTemporal } from '../../support/temporal';
import type { TestBed } from '../../support/test-bed';
import { startTestBed, testServer, text } from '../../support/test-bed';

const { WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE } = temporalProtocol.api.enums.v1.WorkflowIdReusePolicy;
const aDayMs = 24 * 60 * 60 * 1000;

describe.each(['sleepingForDays', 'askingForDays'])('[check 1] an answer to %s before the first task behind a continue-as-new', (agent) => {
  let temporal: Temporal;
  let client: HoldfastClient;
  let first: TestBed;
  beforeAll(async () => {
    [temporal, first] = await Promise.all([openTemporal(), startTestBed(() => text('Done.'))]);
    client = await connect({ server: testServer(), taskQueue: first.taskQueue });
  });
  afterAll(async () => {
    await client.close();
    await temporal.close();
  });

  const goesOnAsNew = async (): Promise<Run> => {
    const run = await client.start(agent, 'Hi');
    await eventually(async () => expect((await run.interrupts()).length).toBe(agent === 'askingForDays' ? 2 : 1));
    const before = await temporal.executionOf(run.id);
    await temporal.handle(run.id).signal(names.continueAsNewSignal);
    await temporal.untilAnotherExecution(run.id, before);
    return run;
  };

  /** Begins the latest execution again without a worker, where all limits of days end at this time. */
  const beginAgain = async ({ id }: Run, end: number): Promise<void> => {
    const { workflowService } = temporal.connection;
    const execution = { workflowId: `default/${id}`, runId: await temporal.executionOf(id) };
    const { history } = await workflowService.getWorkflowExecutionHistory({ namespace: 'default', execution });
    const { input, memo, workflowType, taskQueue } = history?.events?.[0]?.workflowExecutionStartedEventAttributes ?? {};
    const [payload] = input?.payloads ?? [];
    const moved = JSON.parse(Buffer.from(payload?.data ?? []).toString(), (key, value: unknown) =>
      (key === 'deadline' || key.startsWith('until:')) && Number(value) > Date.now() + aDayMs ? end : value,
    ) as unknown;
    await temporal.handle(id).terminate();
    await workflowService.startWorkflowExecution({
      namespace: 'default',
      workflowId: execution.workflowId,
      workflowType: workflowType ?? null,
      taskQueue: { name: taskQueue?.name ?? '' },
      input: { payloads: [{ ...payload, data: Buffer.from(JSON.stringify(moved)) }] },
      memo: memo ?? null,
      requestId: randomUUID(),
      workflowIdReusePolicy: WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
    });
  };

  const answer = async (run: Run): Promise<void> => {
    const interruptId = (await run.interrupts()).find(({ deadline }) => deadline === undefined)?.id;
    await temporal.handle(run.id).signal(names.resumeSignal, { interruptId, answer: 'yes', delivery: run.id });
  };
  const heard = async (run: Run): Promise<readonly unknown[]> => {
    await run.result();
    const all: unknown[] = [];
    for await (const event of run.events({ deltas: false })) if (event.type === 'custom' && event.name === 'heard') all.push(event.data);
    return all;
  };

  it('comes behind a limit that was over before, and counts before it', async () => {
    const [late, inTime] = await Promise.all([goesOnAsNew(), goesOnAsNew()]);
    await first.close();
    await beginAgain(late, Date.now() - 1000);
    await answer(late);
    const end = Date.now() + 3000;
    await beginAgain(inTime, end);
    await answer(inTime);
    while (Date.now() < end + 100) await new Promise((resolve) => setTimeout(resolve, 50));
    const again = await startTestBed(() => text('Done.'), { taskQueue: first.taskQueue });
    expect(await heard(late)).toEqual([agent === 'askingForDays' ? 'deadline' : 'sleep']);
    expect(await heard(inTime)).toEqual(['answer']);
    await again.close();
  });
});
