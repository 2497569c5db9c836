declare module '__holdfast_agents__' {
  const agents: object;
  export = agents;
}
