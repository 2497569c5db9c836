/** What the worker of the cases bundles: every agent that they run on a server. */
export * from './agents';
export * from './built-in-agents';
export * from './callback-agents';
export * from './cancel-agents';
export * from './chain-agents';
export * from './hook-agents';
export * from './plugin-agents';
export * from './retry-agents';
export * from './team-agents';
