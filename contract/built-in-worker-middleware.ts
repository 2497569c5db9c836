/** Names of the worker middleware that every worker has, whatever its configuration says. */
export const builtInWorkerMiddlewareNames: readonly string[] = ['pii', 'responseCache'];
