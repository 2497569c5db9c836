declare module '__holdfast_agents__' {
  const agents: object;
  export = agents;
}

/** Only a default export may be known. */
declare module '__holdfast_workflows__' {
  const dynamic: unknown;
  export { dynamic as default };
}
