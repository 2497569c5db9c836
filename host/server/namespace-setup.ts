import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import { google } from '@temporalio/proto';
import { HoldfastError } from '../../contract/errors';
import { searchAttributes } from '../../contract/names';
import { millisecondsOf } from '../history/history-facts';
import { indexedValueTypes, isNamespaceMissing } from '../search-attributes';

export const retentionDays = 30;
const retentionMs = retentionDays * 24 * 60 * 60 * 1000;
const retention = google.protobuf.Duration.fromObject({ seconds: retentionMs / 1000 });
const registeredWithinMs = 15_000;

/**
 * Verifies 30 days of retention, as the server's default is 24 hours and a running server reads a change only with its next refresh of
 * namespaces.
 */
export async function setUpNamespace(connection: Connection, namespace: string): Promise<void> {
  const found = await retentionOf(connection, namespace);
  if (found === undefined) await register(connection, namespace);
  else if (found !== retentionMs) {
    await connection.workflowService.updateNamespace({ namespace, config: { workflowExecutionRetentionTtl: retention } });
  }
  if (found !== retentionMs && (await retentionOf(connection, namespace)) !== retentionMs) {
    throw new HoldfastError('server-failed', `The retention of namespace '${namespace}' did not become ${retentionDays} days.`);
  }
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.entries(searchAttributes).filter(([name]) => customAttributes?.[name] === undefined);
  if (missing.length === 0) return;
  await connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(missing.map(([name, type]) => [name, indexedValueTypes[type]])),
  });
}

async function retentionOf(connection: Connection, namespace: string): Promise<number | undefined> {
  try {
    const { config } = await connection.workflowService.describeNamespace({ namespace });
    return millisecondsOf(config?.workflowExecutionRetentionTtl);
  } catch (error) {
    if (isNamespaceMissing(error)) return undefined;
    throw error;
  }
}

/** Parts of the server learn of a new namespace late. */
async function register(connection: Connection, namespace: string): Promise<void> {
  await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: retention });
  const deadline = Date.now() + registeredWithinMs;
  for (;;) {
    try {
      await connection.workflowService.countWorkflowExecutions({ namespace });
      return;
    } catch (error) {
      if (!isNamespaceMissing(error) || Date.now() > deadline) throw error;
      await sleep(100);
    }
  }
}
