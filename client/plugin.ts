import type { ClientPluginOptions } from '../host/client-plugin';
import { ClientPlugin } from '../host/client-plugin';

export type { ClientPluginOptions } from '../host/client-plugin';

/** A Temporal plugin for a `Client` and its `Connection`. Compressed data, external storage and large histories need it. `holdfastPlugin` of the worker can take its place. */
export function holdfastClientPlugin(options: ClientPluginOptions = {}): ClientPlugin {
  return new ClientPlugin(options);
}
