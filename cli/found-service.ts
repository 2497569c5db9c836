import type { ServiceClientOptions } from '../http/index';
import { ServiceClient } from '../http/index';

export class FoundService extends ServiceClient {
  constructor(
    url: string,
    /** Flags for commands in hints. */
    readonly flags: readonly string[] = [],
    options?: ServiceClientOptions,
  ) {
    super(url, options);
  }
}
