import { coresdk } from '@temporalio/proto';
import type { Command } from './activations';

/** Core compares kinds and ids. Memo fields are added, though core ignores them. */
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

export function masked(command: Command): string {
  const { startTimer, ...others } = command;
  const text = JSON.stringify(startTimer ? { timer: startTimer.seq } : others, (_, value: unknown) =>
    ArrayBuffer.isView(value) ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString() : value,
  );
  return text
    .replace(/\b1[67]\d{11}\b/g, 'time')
    .replace(/\b20\d\d-\d\d-\d\dT[\d:.]+Z/g, 'time')
    .replace(/(\\n {4}at [^"\\]*)+/g, '');
}

export function isEnd({
  completeWorkflowExecution,
  failWorkflowExecution,
  cancelWorkflowExecution,
  continueAsNewWorkflowExecution,
}: Command): boolean {
  return Boolean(completeWorkflowExecution ?? failWorkflowExecution ?? cancelWorkflowExecution ?? continueAsNewWorkflowExecution);
}
