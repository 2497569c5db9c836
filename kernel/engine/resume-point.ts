import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { interruptId } from '../../contract/interrupts';
import type { AgentResult } from '../run/agent-result';
import type { Journal, JournalEffect } from '../effects/journal';
import type { RunState } from '../run/state';

/** What a cancelled run had come to. */
export interface CancelledRun {
  readonly state: RunState;
  readonly journal: Journal;
  /** Tools whose effect is once that hooks have called, by the keys of their frames. */
  readonly onceCalls: ReadonlyMap<string, string>;
  /** What its agents had ended with. */
  readonly end: AgentResult | undefined;
}

/**
 * The state from which a cancelled run goes on: as it stood. All that came back stays recorded, and what was cut off is asked for again, also what
 * people were asked. A `once` call stands here only if its end is recorded, or if it never began: the run waits for all others before it ends.
 */
export function resumeState({ state, journal, onceCalls, end }: CancelledRun): RunState {
  const saved: Record<string, readonly JournalEffect[]> = {};
  const asked: string[] = [];
  for (const [address, effects] of Object.entries(journal.toJSON())) {
    const cutOff = Math.min(...effects.filter(isCutOffAnswer).map(({ n }) => n));
    if (cutOff !== Infinity) refuseOnceCalls(`${address}/model`, onceCalls);
    const kept = effects.filter(({ n }) => n < cutOff);
    for (const { n, kind, ...effect } of kept) if (kind === 'interrupt' && 'open' in effect) asked.push(interruptId(address.split('/'), n));
    if (kept.length > 0) saved[address] = kept;
  }
  const without = (ids: readonly string[] | undefined): readonly string[] | undefined => ids?.filter((id) => !asked.includes(id));
  const { cancel: _, expired, withdrawn, ...rest } = state;
  return {
    ...rest,
    journal: saved,
    answered: state.answered.filter((id) => !asked.includes(id)),
    ...defined({ notes: journal.savedNotes, expired: without(expired), withdrawn: without(withdrawn) }),
    ...(end === undefined ? {} : { finished: { output: end.output, text: end.text } }),
  };
}

/** What a model had said by then is no answer: it is asked again. */
function isCutOffAnswer(effect: JournalEffect): boolean {
  const { finish } = ('value' in effect ? (effect.value ?? {}) : {}) as { readonly finish?: unknown };
  return effect.kind === 'model' && finish === 'cancelled';
}

function refuseOnceCalls(frame: string, onceCalls: ReadonlyMap<string, string>): void {
  for (const [key, tool] of onceCalls)
    if (key === frame || key.startsWith(`${frame}/`))
      throw new HoldfastError(
        'resume-impossible',
        `The run cannot go on from where it was cancelled: a layer around a model call had called "${tool}", whose effect is once.`,
      );
}
