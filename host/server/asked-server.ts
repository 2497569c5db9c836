import { connectTemporal } from '../connection';
import { setUpNamespace } from './namespace-setup';

const healthPatienceMs = 2_000;
const preparePatienceMs = 30_000;

/** Waits until the server answers, and sets its namespace up. */
export async function prepareServer(address: string, namespace: string): Promise<void> {
  const { connection, close } = await connectTemporal({ address, namespace }, { deadlineMs: preparePatienceMs });
  try {
    await connection.withDeadline(Date.now() + preparePatienceMs, () => setUpNamespace(connection, namespace));
  } finally {
    await close();
  }
}

/** Whether a server answers. */
export async function answers(address: string): Promise<boolean> {
  try {
    const { close } = await connectTemporal({ address, namespace: 'default' }, { deadlineMs: healthPatienceMs });
    await close();
    return true;
  } catch {
    return false;
  }
}
