import type { ServiceClientOptions } from '../http/index';
import { ServiceClient } from '../http/index';

export class FoundService extends ServiceClient {
  constructor(
    url: string,
    /** Flags by which a command in a hint reaches this service. */
    readonly flags: readonly string[] = [],
    options?: ServiceClientOptions,
  ) {
    super(url, options);
  }
}
