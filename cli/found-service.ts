import type { ServiceClientOptions } from '../http/index';
import { ServiceClient } from '../http/index';

/** The service that commands talk to. */
export class FoundService extends ServiceClient {
  constructor(
    url: string,
    /** What a command that is shown to the user needs to reach the same service. */
    readonly flags: readonly string[] = [],
    options?: ServiceClientOptions,
  ) {
    super(url, options);
  }
}
