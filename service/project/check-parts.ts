import { policiesOf } from '../../activities/policies';
import { OutputRegistry } from '../../activities/schemas/outputs';
import { ToolRegistry } from '../../activities/tools/tools';
import { Observers } from '../../activities/worker-middleware/observers';
import { WorkerMiddlewareRegistry } from '../../activities/worker-middleware/worker-middleware';
import { HoldfastError, codeOf, messageOf } from '../../contract/errors';
import type { ProjectConfig } from './project-config';

/** What a worker would refuse of a configuration is refused by whoever loads it: a service that runs would hide it. */
export async function checkParts(
  { tools = {}, outputs = {}, middleware, observers, policies }: ProjectConfig,
  file: string,
): Promise<void> {
  try {
    const parts = [new ToolRegistry(tools), new OutputRegistry(outputs)];
    void [new WorkerMiddlewareRegistry(middleware ?? []), new Observers(observers), policiesOf(policies)];
    for (const part of parts) await part.ready();
  } catch (error) {
    throw new HoldfastError(codeOf(error) ?? 'config-invalid', `${file}: ${messageOf(error)}`, { cause: error });
  }
}
