import type { ClientPluginOptions } from '../../host/client-plugin';
import { ClientPlugin } from '../../host/client-plugin';

export type { ClientPluginOptions } from '../../host/client-plugin';

/**
 * A Temporal plugin for a `Client` and its `Connection`, needed for compression, external storage and large histories. The worker's
 * `holdfastPlugin` also works.
 * @example
 * import { Client, Connection } from '@temporalio/client';
 *
 * const plugins = [holdfastClientPlugin()];
 * const connection = await Connection.connect({ plugins });
 * export const temporal = new Client({ connection, plugins });
 */
export function holdfastClientPlugin(options: ClientPluginOptions = {}): ClientPlugin {
  return new ClientPlugin(options);
}
