import type { ConnectionLike } from '@temporalio/client';
import { HoldfastError } from '../contract/errors';
import { millisecondsOf } from '../host/history/history-facts';
import { addressFlag } from '../host/server-address';

const hourMs = 3_600_000;
const shortestDays = 7;
const patienceMs = 5000;

/** Throws 'retention-short'. A namespace without a known retention is accepted. */
export async function checkRetention(connection: ConnectionLike, namespace: string): Promise<void> {
  const { config } = await connection.withDeadline(Date.now() + patienceMs, () =>
    connection.workflowService.describeNamespace({ namespace }),
  );
  const hours = Math.round(millisecondsOf(config?.workflowExecutionRetentionTtl) / hourMs);
  if (hours === 0 || hours >= shortestDays * 24) return;
  const command = `temporal operator namespace update${addressFlag(connection)} --namespace ${namespace} --retention 30d`;
  throw new HoldfastError(
    'retention-short',
    `Namespace '${namespace}' keeps runs that have ended for ${hours % 24 === 0 ? counted(hours / 24, 'day') : counted(hours, 'hour')}. Behind that nobody can read them, and a start with the id of one begins it anew. For 30 days: ${command}`,
    { details: { command } },
  );
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
