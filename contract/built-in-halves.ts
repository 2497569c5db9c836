/** Names of the worker halves that every worker has, whatever its configuration says. */
export const builtInHalfNames: readonly string[] = ['pii', 'responseCache'];
