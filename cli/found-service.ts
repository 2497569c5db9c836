import type { ServiceClientOptions } from '../client/http/index';
import { ServiceClient } from '../client/http/index';

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
