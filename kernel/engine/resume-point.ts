import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { interruptId } from '../../contract/interrupts';
import type { AgentResult } from '../run/agent-result';
import type { Journal } from '../effects/journal';
import type { JournalEffect } from '../effects/journal-effect';
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
  const all = Object.entries(journal.toJSON());
  const cutCalls = all.flatMap(([address, effects]) => cutCallsAt(address, effects));
  for (const call of cutCalls) refuseOnceCalls(call, onceCalls);
  for (const [address, effects] of all) {
    if (cutCalls.some((call) => isInside(address, call))) continue;
    const cutOff = Math.min(...effects.filter(isCutOffAnswer).map(({ n }) => n));
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

/** The model is asked again after a partial answer, through all layers. A layer may have been halted with the partial answer. */
function cutCallsAt(address: string, effects: readonly JournalEffect[]): readonly string[] {
  if (effects.some(isCutOffAnswer)) return [`${address}/model`];
  const [call] = /^.*\/t\d+\/model(?=\/)/.exec(address) ?? [];
  return call !== undefined && effects.some((effect) => effect.kind === 'next' && isCutOff(effect)) ? [call] : [];
}

function isCutOffAnswer(effect: JournalEffect): boolean {
  return effect.kind === 'model' && isCutOff(effect);
}

function isCutOff(effect: JournalEffect): boolean {
  const { finish } = ('value' in effect ? (effect.value ?? {}) : {}) as { readonly finish?: unknown };
  return finish === 'cancelled';
}

function isInside(address: string, frame: string): boolean {
  return address === frame || address.startsWith(`${frame}/`);
}

function refuseOnceCalls(frame: string, onceCalls: ReadonlyMap<string, string>): void {
  for (const [key, tool] of onceCalls)
    if (isInside(key, frame))
      throw new HoldfastError(
        'resume-impossible',
        `The run cannot go on from where it was cancelled: a layer around a model call had called "${tool}", whose effect is once.`,
      );
}
