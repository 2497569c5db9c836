import { connectTemporal } from '../connection';
import { setUpNamespace } from './namespace-setup';

const healthPatienceMs = 1_000;
const preparePatienceMs = 30_000;

/** Waits for the server, and sets its namespace up. Returns the id of the cluster. */
export async function prepareServer(address: string, namespace: string): Promise<string> {
  const { connection, close } = await connectTemporal({ address, namespace }, { deadlineMs: preparePatienceMs });
  try {
    return await connection.withDeadline(Date.now() + preparePatienceMs, async () => {
      await setUpNamespace(connection, namespace);
      return (await connection.workflowService.getClusterInfo({})).clusterId;
    });
  } finally {
    await close();
  }
}

export async function clusterIdAt(address: string): Promise<string | undefined> {
  try {
    const { connection, close } = await connectTemporal({ address, namespace: 'default' }, { deadlineMs: healthPatienceMs });
    try {
      const ask = async (): Promise<string> => (await connection.workflowService.getClusterInfo({})).clusterId;
      return await connection.withDeadline(Date.now() + healthPatienceMs, ask);
    } finally {
      await close();
    }
  } catch {
    return undefined;
  }
}
