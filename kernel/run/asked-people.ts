import type { PolicyDecision } from '../../contract/decisions';
import type { Interrupt } from '../../contract/interrupts';
import { canonicalJson } from '../../contract/messages/messages';
import type { Asked, Answerer, AskedInTime } from '../../contract/who-may-answer';
import { mayAnswer } from '../../contract/who-may-answer';
import type { Frame } from '../effects/frames';
import type { RunScope } from './scope';
import { peopleOf } from './second-eyes';

/** Code that is entered again asks whom it asked before. Other code may name others: what those who were asked say does not count for them. */
export function refuseOtherPeople({ run }: { readonly run: RunScope }, { id, address, ...asked }: Interrupt): void {
  const before = run.state.interrupts.find(({ shown }) => shown.id === id)?.shown;
  if (before === undefined || peopleIn(before) === peopleIn(asked)) return;
  throw run.journal.change(`The code at ${address.join('/')} changed: it asks "${id}" of other people.`);
}

/** Also those to whom it will go. When does not matter here. */
function peopleIn({ by, roles, notBy, steps = [] }: Omit<AskedInTime, 'id'>): string {
  const later = steps.flatMap((step) => (step.type === 'escalate' ? [[step.by ?? null, step.roles ?? null]] : []));
  return canonicalJson([by ?? null, roles ?? null, notBy ?? null, later]);
}

interface Told extends Answerer {
  readonly answer: PolicyDecision;
  readonly expired?: true;
}

/** The same of a decision of a policy that was given before. */
export function refuseAnswerOfOthers(
  { run }: { readonly run: RunScope },
  { address }: Frame,
  asked: Omit<AskedInTime, 'id' | 'steps'> & { readonly escalate?: Asked },
  { answer, by, roles, expired }: Told,
): void {
  if (expired === true || answer.type === 'apply-policy') return;
  const steps = asked.escalate === undefined ? [] : [{ at: 0, type: 'escalate' as const, ...asked.escalate }];
  if (
    mayAnswer(
      { ...asked, id: '', steps },
      { ...(by === undefined ? {} : { by }), ...(roles === undefined ? {} : { roles }) },
      0,
      peopleOf(run.ports),
    )
  )
    return;
  throw run.journal.change(`The code at ${address.join('/')} changed: it does not ask ${by ?? 'whoever'} who has decided there.`);
}
