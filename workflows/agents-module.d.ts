declare module '__holdfast_agents__' {
  const agents: object;
  export = agents;
}

/** The workflows of a user, of which nothing is known but that there may be a default one. */
declare module '__holdfast_workflows__' {
  const dynamic: unknown;
  export { dynamic as default };
}
