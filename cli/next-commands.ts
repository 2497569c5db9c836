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
      `${answer({ happened: true, result: ownWords })}  # it took effect, with this result`,
      `${answer({ happened: false })}  # it did not: it is called again`,
    ];
  if (externalCallIn(interrupt) !== undefined)
    return [`${answer({ output: ownWords })}  # the result of the call`, `${answer({ error: ownWords })}  # why there is none`];
  return [answer(exampleFor(interrupt))];
}

function exampleFor(interrupt: Interrupt): Json {
  const example = interrupt.kind === 'approval' ? undefined : exampleOf(interrupt.answerSchema, ownWords);
  return example === undefined || misfitOf(interrupt, example) !== undefined ? ownWords : example;
}

const ownWords = 'your answer';
