import type { HoldfastClient } from '../../client/index';
import type { AppParts } from '../parts';
import type { McpSdk } from './sdk';

export interface McpCaller {
  readonly sdk: McpSdk;
  readonly parts: AppParts;
  readonly client: HoldfastClient;
  /** Aborts when the client goes away or should not wait any longer, or the service closes. Runs continue. */
  readonly signal: AbortSignal;
  readonly secret: () => Promise<Buffer>;
}

export function inTime<T>({ client, parts }: McpCaller, ask: () => Promise<T>): Promise<T> {
  return client.withDeadline(Date.now() + parts.patienceMs, ask);
}
