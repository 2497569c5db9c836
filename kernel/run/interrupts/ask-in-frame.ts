import { defined } from '../../../contract/defined';
import type { HoldfastError } from '../../../contract/errors';
import type { InDoubtInfo, Interrupt } from '../../../contract/interrupts';
import type { Json } from '../../../contract/messages/messages';
import { canonicalJson } from '../../../contract/messages/messages';
import { sha256 } from '../../../contract/sha256';
import { isCancellation } from '../../effects/errors';
import type { Frame } from '../../effects/frames';
import type { RunScope } from '../scope';
import type { PendingInterrupt } from '../state';

type Asking = Pick<RunScope, 'interrupts' | 'journal' | 'ports'>;

/** Withdraws the question with the frame. Re-entered code gets the answer only for the same question. */
export function askIn(run: Asking, frame: Frame, asked: (n: number) => PendingInterrupt, letGo?: () => void): Promise<Json> {
  const { interrupts, ports } = run;
  return frame.effect(
    'interrupt',
    (n) => {
      const question = asked(n);
      // The resumed run may ask another question.
      if (!ports.cancelled) noteQuestion(frame, n, question.shown);
      const answer = interrupts.open(limited(question, frame.limit));
      const { decision } = frame;
      if (decision !== undefined) answer.catch((error: unknown) => (decision.isWithdrawn ||= isCancellation(error)));
      frame.opened(n, (error) => {
        interrupts.drop(question.shown.id, error);
        if (error === undefined) letGo?.();
      });
      return answer;
    },
    undefined,
    (n) => anotherQuestion(run, frame, n, () => asked(n).shown),
  );
}

/** Code with less time than the people shows its own deadline. */
function limited(asked: PendingInterrupt, limit: number | undefined): PendingInterrupt {
  const { shown } = asked;
  return limit === undefined || limit >= (shown.deadline ?? Infinity) ? asked : { shown: { ...shown, deadline: limit }, isLimited: true };
}

type Parts = Readonly<Record<string, string>>;

function noteQuestion(frame: Frame, n: number, shown: Interrupt): void {
  frame.note(noteOf(n), partsOf(shown));
}

/** Undefined: code asks the question from before the continue-as-new. */
function anotherQuestion(
  { journal }: Pick<RunScope, 'journal'>,
  frame: Frame,
  n: number,
  asked: () => Interrupt,
): HoldfastError | undefined {
  const before = frame.noteOf(noteOf(n)) as Parts | undefined;
  if (before === undefined || !frame.isKnownNext) return undefined;
  const now = partsOf(asked());
  const changed = [...new Set([...Object.keys(before), ...Object.keys(now)])].filter((part) => before[part] !== now[part]);
  if (changed.length === 0) return undefined;
  const others = changed.map((part) => (part === 'people' || part === 'arguments' ? `other ${part}` : `another ${part}`));
  return journal.change(`The code at ${frame.key} changed: effect ${n} asks another question, with ${others.join(' and ')}.`);
}

function noteOf(n: number): string {
  return `question:${n}`;
}

function partsOf(shown: Interrupt): Parts {
  const { kind, notBy, steps = [] } = shown;
  const later = steps.flatMap((step) => (step.type === 'escalate' ? [whoOf(step)] : []));
  const people = { ...whoOf(shown), ...defined({ notBy: notBy && [...notBy].sort() }), ...(later.length === 0 ? {} : { later }) };
  return { kind, ...partsOfKind(shown), ...(Object.keys(people).length === 0 ? {} : { people: hashOf(people) }) };
}

function whoOf({ by, roles }: { readonly by?: readonly string[]; readonly roles?: readonly string[] }): Record<string, string[]> {
  return defined({ by: by && [...by].sort(), roles: roles && [...roles].sort() });
}

function partsOfKind(shown: Interrupt): Parts {
  if (shown.kind === 'approval') {
    const { tool, callId, inputHash, options = null, policy } = shown;
    const of = { arguments: hashOf([tool, callId, inputHash, options]) };
    // A newer version of a policy may ask for more after the same stage.
    return policy === undefined ? of : { ...of, policy: hashOf([policy.name, policy.stage.number, policy.stage.name ?? null]) };
  }
  if (shown.kind === 'in-doubt') {
    const { tool, callId, input } = shown.info as InDoubtInfo;
    return { arguments: hashOf([tool, callId, input]) };
  }
  return { text: hashOf(shown.info), ...(shown.answerSchema === undefined ? {} : { form: hashOf(shown.answerSchema) }) };
}

function hashOf(value: Json): string {
  return sha256(canonicalJson(value)).slice(0, 32);
}
