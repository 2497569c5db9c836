import type { WorkflowHandle } from '@temporalio/client';
import { Client, Connection } from '@temporalio/client';
import { names } from '../../contract/names';
import { testServer } from './test-bed';

/** Temporal itself, for what only an operator or a broken program would do to a run. */
export interface Temporal {
  readonly connection: Connection;
  handle(runId: string): WorkflowHandle;
  /** Temporal's own id of the latest execution. */
  executionOf(runId: string): Promise<string>;
  /** Waits until the run has gone on as new, or was reset. */
  untilAnotherExecution(runId: string, than: string): Promise<void>;
  /** Lets the run go on as new. Returns the id of the execution before. */
  goOnAsNew(runId: string): Promise<string>;
  /** Waits until a worker has done the first task of the latest execution: the code of the run stands where it stood. */
  untilEntered(runId: string): Promise<void>;
  /** Waits until an update stands before a task of the run, with or without a worker. */
  untilAdmitted(runId: string, updateId: string): Promise<void>;
  close(): Promise<void>;
}

export async function openTemporal(): Promise<Temporal> {
  const connection = await Connection.connect({ address: testServer().address });
  const client = new Client({ connection });
  const handle = (runId: string): WorkflowHandle => client.workflow.getHandle(`default/${runId}`);
  const executionOf = async (runId: string): Promise<string> => (await handle(runId).describe()).runId;
  const untilAnotherExecution = async (runId: string, than: string): Promise<void> => {
    while ((await executionOf(runId)) === than) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  return {
    connection,
    handle,
    executionOf,
    untilAnotherExecution,
    async goOnAsNew(runId) {
      const before = await executionOf(runId);
      await handle(runId).signal(names.continueAsNewSignal);
      await untilAnotherExecution(runId, before);
      return before;
    },
    untilEntered: (runId) =>
      eventually(async () => {
        const { events } = await handle(runId).fetchHistory();
        if (!events?.some(({ workflowTaskCompletedEventAttributes }) => workflowTaskCompletedEventAttributes))
          throw new Error('No task is done.');
      }),
    async untilAdmitted(runId, updateId) {
      const workflowExecution = { workflowId: `default/${runId}` };
      await eventually(async () => {
        await connection.workflowService.pollWorkflowExecutionUpdate({ namespace: 'default', updateRef: { workflowExecution, updateId } });
      });
    },
    close: () => connection.close(),
  };
}

/** Lists are brought up to date a moment after what they list. A machine with much else to do takes its time. */
export async function eventually(check: () => Promise<void>, withinMs = 120_000): Promise<void> {
  const until = Date.now() + withinMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
