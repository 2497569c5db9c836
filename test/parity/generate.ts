import type { Json, JsonObject } from '../../contract/messages/messages';
import type { AgentName, Member } from './agent-names';
import { agentNames, isTeam, isolatedTeams, membersOf, otherKeys, otherNames, teamNames } from './agent-names';
import { Random } from './random';
import type { Decision, Said, Script, ScriptedCall } from './script';

/** The same name gives the same script on every machine. */
export function scriptOf(name: string): Script {
  const random = new Random(name);
  const gaveUp = random.chance(0.15) ? { gaveUp: { after: random.below(3), cancels: random.chance(0.5) } } : {};
  return drawnScript(name, random, gaveUp, random.chance(0.1));
}

/** A script whose worker may be stopped or killed at any time without effect on the result. Has more calls, teams and payments. */
export function stormyScriptOf(name: string): Script {
  const random = new Random(name);
  const gaveUp = random.chance(0.25) ? { gaveUp: { after: random.below(3), cancels: random.chance(0.8) } } : {};
  return { ...drawnScript(name, random, gaveUp, true, true), killsAt: [] };
}

function drawnScript(name: string, random: Random, gaveUp: Pick<Script, 'gaveUp'>, kills: boolean, storms = false): Script {
  const drawn = random.weighted<AgentName>([
    ...agentNames.map((one) => [one === 'hurried' ? (kills ? 0 : 2) : 1, one] as const),
    [2, 'whole'],
    [1, 'steps'],
    [2, 'racing'],
    [2, 'renamed'],
    ...teamNames.map((one) => [(isolatedTeams.includes(one) ? 1.5 : 1) * (storms ? 3 : 1), one] as const),
  ]);
  // Late answers play slowly, so few scripts have them, but some in every hundred.
  const agent = !kills && Number(name.split('/')[1]) % 12 === 5 ? 'hurried' : drawn;
  const saidIn = (member?: Member): readonly Said[] =>
    random.list((storms ? 2 : 1) + random.below(4), () =>
      saidBy(random, { agent, kills, storms, ...(member === undefined ? {} : { member }) }),
    );
  const parts = isTeam(agent) ? Object.entries(membersOf(agent)).map(([one, member]) => [one, saidIn(member)] as const) : undefined;
  // An answer during a kill is stored, and a race may be decided earlier or later.
  const script: Script = {
    name,
    agent,
    stream: random.chance(0.5),
    input: random.weighted([
      [12, 'Hi.'],
      [2, 'Ask me first.'],
      [1, 'Nothing to do.'],
    ]),
    // A model that never returns: the server gives up after five calls.
    said:
      parts !== undefined
        ? []
        : !kills && random.chance(0.01)
          ? random.list(6, () => ({ fails: 'in passing', error: 'the line is busy' }) as const)
          : saidIn(),
    ...(parts === undefined ? {} : { parts: Object.fromEntries(parts) }),
    decisions: random.list(random.below(8), () => decisionOf(random)),
    together: random.chance(0.6) && !(kills && (agent === 'racing' || JSON.stringify(parts ?? []).includes('"race branches"'))),
    borders: random.chance(0.25),
    ...(random.chance(0.15) ? { twice: random.list(3, () => random.below(4)) } : {}),
    ...(!kills && (agent === 'hurried' || (!isTeam(agent) && random.chance(0.12))) ? { away: true } : {}),
    ...(kills ? { killsAt: random.list(1 + random.below(2), () => 1 + random.below(12)) } : {}),
    ...(random.chance(0.4) ? { bordersAt: random.list(1 + random.below(3), () => 1 + random.below(20)) } : {}),
    ...gaveUp,
  };
  // A run that continued as new between two failures may have lost a part, and is not retried.
  const staysOneRun = !kills && !script.borders && script.bordersAt === undefined;
  return staysOneRun && random.chance(0.6) ? { ...script, retried: 1 + random.below(3) } : script;
}

function decisionOf(random: Random): Decision {
  return random.weighted<Decision>([
    [6, 'yes'],
    [2, 'no'],
    [2, 'change'],
    [1, 'spoil'],
    [1, 'instead'],
    [2, 'always'],
    [1, 'misfit'],
  ]);
}

interface Speaker {
  readonly agent: AgentName;
  readonly member?: Member;
  readonly kills: boolean;
  readonly storms: boolean;
}

function saidBy(random: Random, speaker: Speaker): Said {
  const kind = random.weighted([
    [speaker.storms ? 20 : 8, 'calls'],
    [4, 'says'],
    [speaker.kills ? 0 : speaker.member === undefined ? 3.5 : 1, 'fails'],
  ]);
  if (kind === 'says') return { says: textFor(random) };
  if (kind === 'fails') {
    return {
      fails: random.chance(0.8) ? 'in passing' : 'for good',
      error: random.of(['the line is busy', 'hopeless', 'can be mended']),
      ...(random.chance(0.3) ? { saying: random.of(['Half', 'Bad', 'Bad and half']) } : {}),
    };
  }
  const count = random.weighted([
    [speaker.storms ? 1 : 5, 1],
    [4, 2],
    [3, 3],
    [1, 5],
  ]);
  const calls = besideStop(random.list(count, (position) => callFor(random, speaker, position)));
  return { calls, ...(random.chance(0.2) ? { says: textFor(random) } : {}) };
}

/**
 * A stop withdraws unfinished parallel calls. If calls return together, only the server knows the order, so a slow call makes the order
 * certain.
 */
function besideStop(calls: readonly ScriptedCall[]): readonly ScriptedCall[] {
  const stops = ({ input }: ScriptedCall): boolean => stopWords.some((word) => Object.values(input ?? {}).includes(word));
  const first = calls.find(stops);
  return first === undefined ? calls : calls.filter((call) => call === first || (call.name === 'slow' && !stops(call)));
}

function textFor(random: Random): string {
  return random.weighted([
    [6, 'Fine.'],
    [2, 'Bad one.'],
    [2, 'Bad and kept.'],
    [2, 'Ask me.'],
    [1, 'Again.'],
    [1, 'Rewrite me.'],
    [1, 'Replace me.'],
    [1, 'Wait for me.'],
    [1, 'Aside.'],
    [0.5, 'Break.'],
    [0.5, 'Stop.'],
    [2, '{ "verdict": "yes" }'],
    [1, '{ "verdict": "perhaps" }'],
    [1, ''],
  ]);
}

const stopAll = 'fail and stop all';
const stopFirst = 'stop';
const stopWords = [stopAll, stopFirst];

const hurriedWords: readonly (readonly [number, string])[] = [
  [2, 'ask late'],
  [2, 'ask late default'],
  [1, 'race late'],
  [3, 'ask stages'],
  [1, 'ask before'],
];

const racingWords: readonly (readonly [number, string])[] = [
  [1, 'race time'],
  [1, 'race branches'],
  [1, 'race sides'],
  [1, 'race in time'],
  [1, 'race too late'],
  [1, 'race caught'],
  [1, 'race person'],
  [1, 'race call'],
  [1, 'race hidden'],
  [1, 'race then ask'],
  [2, 'count'],
];

const words: readonly (readonly [number, string])[] = [
  [8, 'fine'],
  [4, 'risky'],
  [1, 'risky swap'],
  [3, 'fail'],
  [1, 'fail caught'],
  [0.5, stopAll],
  [0.5, 'large'],
  [0.5, 'nothing'],
  [0.5, 'enough'],
  [0.3, 'throw'],
  [0.2, stopFirst],
  [0.2, 'half throws'],
  [0.5, 'half changes'],
  [0.7, 'skip'],
  [0.7, 'swap'],
  [0.5, 'spoil'],
  [0.7, 'twice'],
  [0.5, 'catch'],
  [0.7, 'mark'],
  [0.7, 'ask'],
  [0.7, 'ask before'],
  [0.7, 'ask after'],
  [0.7, 'ask beside'],
  [0.3, 'ask in time'],
  [0.5, 'sleep'],
  [0.7, 'custom'],
  [0.7, 'modify'],
  [0.3, 'end'],
  [0.7, 'ps'],
  [0.5, 'handled'],
];

const killedTools: readonly (readonly [number, string])[] = [
  [8, 'act'],
  [2, 'quick'],
  [2, 'note'],
  [3, 'ask'],
  [2, 'pieces'],
  [1, 'answer'],
];

/** Agents whose worker middleware sees tool calls but no `reconcile` results. */
const changesCalls: ReadonlySet<AgentName> = new Set(['hooked', 'strict', 'whole']);

const teamTools: readonly (readonly [number, string])[] = [
  [8, 'act'],
  [2, 'quick'],
  [1, 'flaky'],
  [2, 'note'],
  [4, 'ask'],
  [1, 'pieces'],
  [1.5, 'answer'],
];

function callFor(random: Random, { agent, member, kills, storms }: Speaker, position: number): ScriptedCall {
  // Ids repeat between messages, as with real providers.
  const id = `call-${position}`;
  const name = random.weighted([
    ...(kills ? killedTools : member === undefined ? singleTools : teamTools),
    ...(member?.agents ?? []).map((one) => [4, one] as const),
    ...(member?.transfers ?? []).map((one) => [3, `to ${one}`] as const),
  ]);
  if (storms && member === undefined && !changesCalls.has(agent) && random.chance(0.25))
    return { id, name: 'pay', input: { say: random.of(['fine', 'fine', 'risky']) } };
  if (name.startsWith('to ')) return { id, name: 'transfer_to_agent', input: { agent_name: name.slice(3) } };
  if (member?.agents?.includes(name) === true) return { id, name, input: { request: `Do ${position}.` } };
  if (random.chance(0.05)) return { id, name, input: random.of<Json>([{}, 'no object', { say: 5 }, { question: 5 }]) };
  const input = inputFor(random, agent, name);
  const other = otherNames[name];
  if (other === undefined || !random.chance(agent === 'renamed' ? 0.6 : 0.15)) return { id, name, input };
  return { id, name: other, input: random.chance(0.5) ? underOtherKeys(input) : input };
}

function underOtherKeys(input: Json): Json {
  return Object.fromEntries(Object.entries(input as JsonObject).map(([key, value]) => [otherKeys[key] ?? key, value]));
}

const singleTools: readonly (readonly [number, string])[] = [
  [8, 'act'],
  [3, 'quick'],
  [2, 'pay'],
  [2.5, 'flaky'],
  [3, 'note'],
  [4, 'ask'],
  [1.5, 'quickAsk'],
  [2, 'pieces'],
  [1, 'paint'],
  [1, 'paintPieces'],
  [1.5, 'answer'],
  [1, 'nowhere'],
  [0.5, 'exit'],
  [0.15, 'slow'],
  [0.3, 'lost'],
];

function inputFor(random: Random, agent: AgentName, name: string): Json {
  const races = agent === 'racing' || isTeam(agent);
  const say = random.weighted(
    races ? [...words.slice(0, 4), ...racingWords] : agent === 'hurried' ? [...words.slice(0, 4), ...hurriedWords] : words,
  );
  switch (name) {
    case 'note':
      return { key: random.of(['one', 'two']), value: random.of(['a', 'b', '']) };
    case 'ask':
    case 'quickAsk':
      return {
        question: random.of(['which?', 'with state: which?']),
        ...(random.chance(0.3) ? { typed: true } : {}),
        ...(random.chance(agent === 'hurried' ? 0.4 : isolatedTeams.includes(agent) ? 0.12 : 0.05)
          ? { deadline: agent === 'hurried' ? '10s' : '150ms' }
          : {}),
      };
    case 'exit':
      return { final_result: say };
    default:
      return { say, ...(random.chance(0.5) ? { turns: random.below(6) } : {}) };
  }
}
