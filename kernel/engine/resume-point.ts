import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { interruptId } from '../../contract/interrupts';
import type { AgentResult } from '../run/agent-result';
import type { Journal, JournalEffect } from '../effects/journal';
import type { RunState } from '../run/state';

export interface CancelledRun {
  readonly state: RunState;
  readonly journal: Journal;
  readonly onceCalls: ReadonlyMap<string, string>;
  readonly end: AgentResult | undefined;
}

/**
 * Results stay recorded; open effects and questions are asked for again. A `once` call has its end or never began, because a cancelled run
 * waits for open `once` calls.
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
  const { cancel: _, ...rest } = withQuestionsAgain(state, asked);
  return {
    ...rest,
    journal: saved,
    ...defined({ notes: journal.savedNotes }),
    ...(end === undefined ? {} : { finished: { output: end.output, text: end.text } }),
  };
}

export function withQuestionsAgain({ answered, expired, withdrawn, ...rest }: RunState, asked: readonly string[]): RunState {
  const without = (ids: readonly string[]): string[] => ids.filter((id) => !asked.includes(id));
  return {
    ...rest,
    answered: without(answered),
    ...defined({ expired: expired && without(expired), withdrawn: withdrawn && without(withdrawn) }),
  };
}

/** The model is asked again after a partial answer. */
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
