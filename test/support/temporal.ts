import type { WorkflowHandle } from '@temporalio/client';
import { Client, Connection } from '@temporalio/client';
import { names } from '../../contract/names';
import { testServer } from './test-bed';

export interface Temporal {
  readonly connection: Connection;
  handle(runId: string): WorkflowHandle;
  executionOf(runId: string): Promise<string>;
  untilAnotherExecution(runId: string, than: string): Promise<void>;
  goOnAsNew(runId: string): Promise<string>;
  /** Waits for the first task of the latest execution, after which the code stands at its old place. */
  untilEntered(runId: string): Promise<void>;
  /** Waits until an update is admitted, with or without a worker. */
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

/** Lists lag, and a busy machine takes longer. */
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
