import { HoldfastError } from '../contract/errors';
import { externalCallIn } from '../contract/external-calls';
import { misfitOf, type Interrupt } from '../contract/interrupts';
import type { Json } from '../contract/messages/messages';
import type { FoundService } from './found-service';
import { exampleOf } from './schema-example';
import { commandLine } from '../contract/shell-words';
import { askedAt, mayAnswer } from '../contract/who-may-answer';

/** For copy and paste. The person writes the answer. */
export function commandsFor(
  runId: string,
  interrupt: Interrupt,
  { flags, hasKey }: Pick<FoundService, 'flags' | 'hasKey'>,
  by?: string,
): readonly string[] {
  const { id, kind } = interrupt;
  const asked = askedAt(interrupt, Date.now());
  const named = asked.by?.filter((name) => interrupt.notBy?.includes(name) !== true) ?? [];
  const role = named.length === 0 ? asked.roles?.[0] : undefined;
  const roles = role === undefined ? [] : [role];
  const isNameless = by === undefined && named.length === 0 && role === undefined && interrupt.notBy === undefined;
  const mayAsker = by !== undefined && mayAnswer(interrupt, { by, roles }, Date.now());
  // The asker, if allowed to answer, or else the first allowed person.
  const who = isNameless ? undefined : mayAsker ? by : (named[0] ?? 'your-name');
  const names = [...(who === undefined ? [] : ['--by', who]), ...(role === undefined ? [] : ['--role', role])];
  const rest = [...(hasKey ? [] : names), ...flags];
  if (kind === 'approval') return ['approve', 'reject'].map((command) => commandLine(command, runId, id, ...rest));
  const answer = (value: Json): string => commandLine('answer', runId, id, JSON.stringify(value), ...rest);
  if (kind === 'in-doubt')
    return [
      `${answer({ happened: true, result: blanks.result })}  # it took effect, with this result`,
      `${answer({ happened: false })}  # it did not: it is called again`,
    ];
  if (externalCallIn(interrupt) !== undefined)
    return [`${answer({ output: blanks.result })}  # the result of the call`, `${answer({ error: blanks.error })}  # why there is none`];
  return [answer(exampleFor(interrupt))];
}

function exampleFor(interrupt: Interrupt): Json {
  const example = interrupt.kind === 'approval' ? undefined : exampleOf(interrupt.answerSchema, blanks.answer);
  return example === undefined || misfitOf(interrupt, example) !== undefined ? blanks.answer : example;
}

const blanks = { answer: '<your answer>', result: '<the result>', error: '<why there is none>' } as const;

export function checkFilled(answer: string): void {
  const blank = Object.values(blanks).find((one) => answer.includes(one));
  if (blank !== undefined) throw new HoldfastError('command-invalid', `The answer has ${blank}: replace it by what you know, in JSON.`);
}
