import type { Json } from '../../contract/plain/messages';
import { agentNames } from './agent-names';
import { Random } from './random';
import type { Decision, Said, Script, ScriptedCall } from './script';

/** The script of a name. The same name is the same script, on every machine. */
export function scriptOf(name: string): Script {
  const random = new Random(name);
  const gaveUp = random.chance(0.15) ? { gaveUp: { after: random.below(3), cancels: random.chance(0.5) } } : {};
  return {
    name,
    // `whole` has all that the others have.
    agent: random.of([...agentNames, 'whole', 'whole', 'steps']),
    stream: random.chance(0.5),
    input: random.weighted([
      [12, 'Hi.'],
      [2, 'Ask me first.'],
      [1, 'Nothing to do.'],
    ]),
    // A model that never comes back: the server gives up after five calls.
    said: random.chance(0.01)
      ? random.list(6, () => ({ fails: 'in passing', error: 'the line is busy' }) as const)
      : random.list(1 + random.below(4), () => saidBy(random)),
    decisions: random.list(random.below(8), () => decisionOf(random)),
    together: random.chance(0.6),
    borders: random.chance(0.25),
    ...gaveUp,
  };
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

function saidBy(random: Random): Said {
  const kind = random.weighted([
    [8, 'calls'],
    [4, 'says'],
    [3.5, 'fails'],
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
    [5, 1],
    [4, 2],
    [3, 3],
    [1, 5],
  ]);
  const calls = besideStop(random.list(count, (position) => callFor(random, position)));
  return { calls, ...(random.chance(0.2) ? { says: textFor(random) } : {}) };
}

/**
 * A stop takes the calls beside it with it, as far as they have not come back. Where they come back at the same time, with a result or with
 * a question, only the server knows whether they are earlier; a slow one is later for certain.
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

/** Behind the call, and before it. */
const stopAll = 'fail and stop all';
const stopFirst = 'stop';
const stopWords = [stopAll, stopFirst];

/** What becomes of a call, by the word that it says. */
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

function callFor(random: Random, position: number): ScriptedCall {
  // Ids repeat from message to message, as those of providers do.
  const id = `call-${position}`;
  const name = random.weighted([
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
    [0.7, 'do'],
    [0.5, 'exit'],
    [0.15, 'slow'],
    [0.3, 'lost'],
  ]);
  return {
    id,
    name,
    input: random.chance(0.05) ? random.of<Json>([{}, 'no object', { say: 5 }, { question: 5 }]) : inputFor(random, name),
  };
}

function inputFor(random: Random, name: string): Json {
  const say = random.weighted(words);
  switch (name) {
    case 'note':
      return { key: random.of(['one', 'two']), value: random.of(['a', 'b', '']) };
    case 'ask':
    case 'quickAsk':
      return {
        question: random.of(['which?', 'with state: which?']),
        ...(random.chance(0.3) ? { typed: true } : {}),
        ...(random.chance(0.05) ? { deadline: '150ms' } : {}),
      };
    case 'exit':
      return { final_result: say };
    case 'do':
      return { words: say };
    default:
      return { say, ...(random.chance(0.5) ? { turns: random.below(6) } : {}) };
  }
}
