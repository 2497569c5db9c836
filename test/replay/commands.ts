import { coresdk } from '@temporalio/proto';
import type { Command } from './activations';

/** What Temporal's core compares in a replay: kinds and ids. Of a memo also the fields, though core does not look at them. */
export function asked(given: Command): string {
  const command = coresdk.workflow_commands.WorkflowCommand.fromObject(given);
  const kind = command.variant ?? 'nothing';
  const { activityId, workflowId, workflowExecution, seq, protocolInstanceId, patchId, signalName, ...body } = (command[
    kind as keyof Command
  ] ?? {}) as Record<string, unknown>;
  switch (kind) {
    case 'startTimer':
    case 'cancelTimer':
    case 'requestCancelActivity':
    case 'cancelChildWorkflowExecution':
      return `${kind} ${String(seq ?? body['childWorkflowSeq'])}`;
    case 'updateResponse':
      return `${kind} ${String(protocolInstanceId)} ${(['accepted', 'rejected', 'completed'] as const).find((one) => body[one] != null) ?? ''}`;
    case 'modifyWorkflowProperties':
      return `${kind} ${Object.keys((body['upsertedMemo'] as { fields?: object } | undefined)?.fields ?? {}).join(' ')}`;
    default:
      return [
        kind,
        activityId,
        workflowId,
        (workflowExecution as { workflowId?: string } | undefined)?.workflowId,
        body['childWorkflowId'],
        signalName,
        patchId,
      ]
        .filter((part) => typeof part === 'string' && part !== '')
        .join(' ');
  }
}

/** All of a command, without times. */
export function masked(command: Command): string {
  const text = JSON.stringify(command, (_, value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString() : value));
  return text.replace(/\b1[67]\d{11}\b/g, 'time').replace(/\b20\d\d-\d\d-\d\dT[\d:.]+Z/g, 'time');
}
