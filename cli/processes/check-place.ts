import { HoldfastError, codeOf } from '../../contract/errors';
import { checkPortFree } from '../../host/server/free-port';
import type { ProcessSettings } from './process-settings';
import { otherAgentsOn, processAt } from './service-record';

/** Fails before a server is started for a service that cannot listen. */
export async function checkPort({ host, port, configuration: { directory } }: ProcessSettings): Promise<void> {
  try {
    await checkPortFree(port, host);
  } catch (error) {
    const own = codeOf(error) === 'port-in-use' ? processAt(directory, port) : undefined;
    if (own === undefined) throw error;
    throw new HoldfastError('port-in-use', `The port ${port} is taken by the process ${own}: the service of ${directory} already runs.`);
  }
}

/** Two workers with different agents on a task queue take each other's runs. */
export function checkQueue({ configuration, project: { agentsFile }, taskQueue }: ProcessSettings): void {
  const other = otherAgentsOn(configuration.directory, { agentsFile, taskQueue });
  if (other === undefined) return;
  throw new HoldfastError(
    'queue-in-use',
    `The process ${other.pid} serves ${other.agentsFile} on the task queue "${taskQueue}" of ${configuration.directory}, and this one would take its runs.`,
  );
}
