/** The agents that scripts are played with. The generator has to know them without the workflow code. */
export const agentNames = [
  'plain',
  'careful',
  'tries',
  'patient',
  'hooked',
  'steps',
  'strict',
  'direct',
  'called',
  'asking',
  'typed',
  'whole',
] as const;
