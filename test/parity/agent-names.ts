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
  'racing',
  'renamed',
  'hurried',
] as const;

export const otherNames: Readonly<Record<string, string>> = {
  act: 'do',
  answer: 'reply',
  quick: 'hurry',
  pay: 'settle',
  flaky: 'wobble',
  note: 'remember',
  ask: 'inquire',
  quickAsk: 'whisper',
  pieces: 'recite',
  paint: 'draw',
  paintPieces: 'sketch',
};
export const otherKeys: Readonly<Record<string, string>> = { say: 'words', question: 'query', key: 'under', value: 'what' };

const keysOf = (tool: string): readonly string[] => (tool === 'note' ? ['key', 'value'] : [/ask/i.test(tool) ? 'question' : 'say']);
export const toolAliases = Object.fromEntries(
  Object.entries(otherNames).map(([tool, name]) => [
    tool,
    { names: [name], arguments: Object.fromEntries(keysOf(tool).map((key) => [key, [otherKeys[key] ?? key]])) },
  ]),
);

export interface Member {
  readonly agents?: readonly string[];
  readonly transfers?: readonly string[];
}

export const teams = {
  abreast: { ada: {}, ben: {} },
  apart: { ada: {}, ben: {} },
  stages: { ada: {}, ben: {}, cleo: {} },
  deep: { ada: {}, ben: {}, desk: { transfers: ['bills', 'travel'] }, bills: { transfers: ['desk'] }, travel: {} },
  boss: {
    boss: { agents: ['ada', 'ben', 'apart', 'desk'] },
    ada: {},
    ben: {},
    desk: { transfers: ['bills', 'travel'] },
    bills: { transfers: ['desk'] },
    travel: {},
  },
  frontDesk: { frontDesk: { transfers: ['bills', 'clerk'] }, bills: { transfers: ['frontDesk'] }, clerk: { agents: ['ada'] }, ada: {} },
  office: { head: { transfers: ['ada', 'clerk'] }, ada: {}, clerk: { agents: ['ben'] }, ben: {} },
  rounds: { ada: {}, ben: {} },
  made: { ada: {}, ben: {} },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Member>>>>;

export type TeamName = keyof typeof teams;
export type AgentName = (typeof agentNames)[number] | TeamName;
export const teamNames = Object.keys(teams) as readonly TeamName[];

export function isTeam(agent: AgentName): agent is TeamName {
  return Object.hasOwn(teams, agent);
}

export function membersOf(agent: TeamName): Readonly<Record<string, Member>> {
  return teams[agent];
}

export const isolatedTeams: readonly AgentName[] = ['apart', 'deep', 'boss'];
