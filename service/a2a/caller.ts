import type { HoldfastClient } from '../../client/index';
import type { Json } from '../../contract/messages/messages';
import type { PushTarget } from '../outgoing/addresses';

export interface A2aCaller {
  readonly client: HoldfastClient;
  readonly agent: string;
  readonly inputSchema?: Json;
  /** Aborts when the client goes away, or the service closes. Tasks continue. */
  readonly signal: AbortSignal;
  readonly patienceMs: number;
  readonly pushTo: readonly PushTarget[];
}
