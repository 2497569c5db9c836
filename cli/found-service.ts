import type { ServiceClientOptions } from '../client/http/index';
import { ServiceClient } from '../client/http/index';

export class FoundService extends ServiceClient {
  /** The service knows the caller by the key, and refuses names. */
  readonly hasKey: boolean;

  constructor(
    url: string,
    /** Flags for commands in hints. */
    readonly flags: readonly string[] = [],
    options?: ServiceClientOptions,
  ) {
    super(url, options);
    this.hasKey = options?.key !== undefined;
  }
}
