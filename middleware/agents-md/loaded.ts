/** What the worker has read, in the order in which the model gets it. */
export interface LoadedAgentsMd {
  readonly files: readonly { readonly path: string; readonly content: string }[];
  readonly warnings: readonly string[];
}
