import { withConnection } from '../connection';
import { setUpNamespace } from './namespace-setup';

const healthPatienceMs = 1_000;
const preparePatienceMs = 30_000;

export function prepareServer(address: string, namespace: string): Promise<string> {
  return clusterId(address, namespace, preparePatienceMs);
}

export function clusterIdAt(address: string): Promise<string | undefined> {
  return clusterId(address, undefined, healthPatienceMs).catch(() => undefined);
}

function clusterId(address: string, namespace: string | undefined, patienceMs: number): Promise<string> {
  const settings = { address, namespace: namespace ?? 'default' };
  return withConnection(
    settings,
    (connection) =>
      connection.withDeadline(Date.now() + patienceMs, async () => {
        if (namespace !== undefined) await setUpNamespace(connection, namespace);
        return (await connection.workflowService.getClusterInfo({})).clusterId;
      }),
    patienceMs,
  );
}
