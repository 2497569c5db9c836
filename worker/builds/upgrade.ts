import { defined } from '../../contract/defined';
import { randomUUID } from 'node:crypto';
import type { ConnectionLike } from '@temporalio/client';
import { Client, WorkflowFailedError } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { HoldfastError, messageOf } from '../../contract/errors';
import { names } from '../../contract/names';
import type { AgentRunInput, TrialVerdict } from '../../contract/record/wire';

const trialTimeoutMs = 30_000;

/** New workflows go to the newest build, so a short workflow asks whether that build can continue a run. */
export function newestBuildTrials(
  connection: ConnectionLike,
  namespace: string,
  taskQueue: string,
  dataConverter: DataConverter | undefined,
): (input: AgentRunInput) => Promise<TrialVerdict> {
  const client = new Client({ connection, namespace, ...defined({ dataConverter }) });
  return async (input) => {
    const { tenant, id } = input.start;
    try {
      return (await client.workflow.execute(names.trialWorkflow, {
        workflowId: `trial:${tenant}/${id}:${randomUUID()}`,
        taskQueue,
        args: [input],
        workflowExecutionTimeout: trialTimeoutMs,
      })) as TrialVerdict;
    } catch (error) {
      const reason = error instanceof WorkflowFailedError ? (error.cause ?? error) : error;
      throw new HoldfastError('upgrade-failed', `The newest build could not be asked: ${messageOf(reason)}`, { cause: error });
    }
  };
}
