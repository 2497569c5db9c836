import { policiesOf } from '../../activities/policies';
import { OutputRegistry } from '../../activities/schemas/outputs';
import { ToolRegistry } from '../../activities/tools/tools';
import { Observers } from '../../activities/worker-middleware/observers';
import { WorkerMiddlewareRegistry } from '../../activities/worker-middleware/worker-middleware';
import { HoldfastError, codeOf, messageOf } from '../../contract/errors';
import type { ProjectConfig } from './project-config';

/** A load refuses the parts that a worker would refuse, because a running service would hide the error of the worker. */
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
