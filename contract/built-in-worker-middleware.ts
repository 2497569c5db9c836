/** Middleware that every worker has, whatever the configuration. */
export const builtInWorkerMiddlewareNames: readonly string[] = ['pii', 'responseCache'];
