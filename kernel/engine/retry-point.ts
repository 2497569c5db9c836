import { defined } from '../../contract/defined';
import { HoldfastError, codeOf } from '../../contract/errors';
import { interruptId } from '../../contract/interrupts';
import { toolFactsOf } from '../../contract/manifest';
import type { Failure } from '../../contract/messages/messages';
import type { Journal, Notes } from '../effects/journal';
import type { JournalEffect } from '../effects/journal-effect';
import { isStop } from '../effects/errors';
import { looksOn } from '../effects/remains';
import { isInRace } from '../effects/settle-order';
import { untilNote } from '../run/interrupts/asleep';
import type { LeftAgent } from '../run/left-agents';
import { withAgent } from '../run/left-agents';
import type { Progress, RunState } from '../run/state';
import type { CancelledRun } from './resume-point';
import { withQuestionsAgain } from './resume-point';

interface FailedRun extends Omit<CancelledRun, 'end'> {
  readonly leftAgents: ReadonlyMap<string, LeftAgent>;
  readonly error: unknown;
}

interface OpenFrame {
  readonly effects: readonly JournalEffect[];
  readonly label: string | undefined;
}

/** The state at the error, without the failures. A failed or open `once` call counts as in doubt, so the call is not repeated blindly. */
export function retryState({ state, journal, leftAgents, onceCalls, error }: FailedRun): RunState {
  const { remains } = journal;
  if (isStop(error)) throw cannotRetry('it was stopped on purpose');
  if (remains.whyLost !== undefined) throw cannotRetry(remains.whyLost);
  let whole = state;
  for (const [frame, left] of leftAgents) if (remains.has(frame)) whole = withAgent(whole, left);
  const frames = withoutAttempts(framesOf(journal), onceCalls);
  const saved: Record<string, readonly JournalEffect[]> = {};
  const dropped: string[] = [];
  for (const [address, frame] of frames) {
    const kept = frame.effects.flatMap((effect) => {
      const mended = mendedEffect(effect, { address, frame, journal, state });
      if (effect.kind === 'interrupt' && (mended === undefined || 'open' in mended))
        dropped.push(interruptId(address.split('/'), effect.n));
      return mended === undefined ? [] : [mended];
    });
    if (kept.length > 0) saved[address] = kept;
  }
  const { progress, ends: _, ...rest } = withQuestionsAgain(whole, dropped);
  return {
    ...rest,
    journal: saved,
    ...cutOf(whole, journal),
    ...defined({ notes: notesOf(journal) }),
    ...(progress === undefined ? {} : { progress: withoutErrors(progress) }),
    ...renewed(whole, error),
  };
}

export function cannotRetry(why: string): HoldfastError {
  return new HoldfastError('retry-impossible', `The run cannot go on from where it failed: ${why}.`);
}

function cutOf({ cut }: RunState, { remains }: Journal): Pick<RunState, 'cut'> {
  const failed = remains.failedChildren.map(({ id, usage }) => [id, usage] as const);
  return failed.length === 0 ? {} : { cut: { ...cut, ...Object.fromEntries(failed) } };
}

function framesOf(journal: Journal): Map<string, OpenFrame> {
  const frames = new Map<string, OpenFrame>();
  for (const [address, { effects, label }] of journal.remains.frames) if (effects.length > 0) frames.set(address, { effects, label });
  for (const [address, effects] of Object.entries(journal.toJSON())) frames.set(address, { effects, label: journal.labelOf(address) });
  return frames;
}

/** A sleeping branch of a race gets its full time again. */
function notesOf(journal: Journal): Notes | undefined {
  const left = [...journal.remains.frames].flatMap(([address, { notes, effects }]) => {
    if (notes === undefined) return [];
    const asleep = isInRace(address) ? effects.filter((effect) => 'open' in effect).map(({ n }) => untilNote(n)) : [];
    return [[address, Object.fromEntries(Object.entries(notes).filter(([name]) => !asleep.includes(name)))] as const];
  });
  const notes = { ...Object.fromEntries(left), ...journal.savedNotes };
  return Object.keys(notes).length === 0 ? undefined : notes;
}

const attemptFrame = /^(.*\/model)\/model\d+$/u;

/** The model's layers are entered again, so they may not have made a `once` call. */
function withoutAttempts(frames: Map<string, OpenFrame>, onceCalls: FailedRun['onceCalls']): Map<string, OpenFrame> {
  const steps = [...frames].flatMap(([address, { effects }]) => {
    const step = attemptFrame.exec(address)?.[1];
    return step !== undefined && effects.some(({ kind }) => kind === 'attempt') ? [step] : [];
  });
  const isInStep = (address: string): boolean => steps.some((step) => address === step || address.startsWith(`${step}/`));
  for (const [address, tool] of onceCalls)
    if (isInStep(address)) throw cannotRetry(`a layer around a model call had called "${tool}", whose effect is once`);
  for (const address of frames.keys()) if (isInStep(address)) frames.delete(address);
  return frames;
}

interface EffectPlace {
  readonly address: string;
  readonly frame: OpenFrame;
  readonly journal: Journal;
  readonly state: RunState;
}

/** Undefined: code asks for the effect again. */
function mendedEffect(effect: JournalEffect, { address, frame, journal, state }: EffectPlace): JournalEffect | undefined {
  const { n, kind } = effect;
  // These hooks run for each failure.
  if (/^(onError|afterFailure):/u.test(kind)) return undefined;
  const { label } = frame;
  const isLast = frame.effects.every((other) => other.n <= n);
  const tool = onceTool(kind, state);
  if ('open' in effect) return tool === undefined ? effect : inDoubt(effect, 'the run failed while it was on its way');
  if ('error' in effect) {
    const isCaught = label !== undefined && !looksOn(label) && !journal.remains.isFresh(address, n);
    if (isCaught) return effect;
    return tool === undefined || certainlyNot(effect.error) ? undefined : inDoubt(effect, effect.error.message);
  }
  if (label !== undefined && looksOn(label) && frame.effects.some((other) => 'error' in other && other.n < n)) return undefined;
  const failure = isLast && kind.startsWith('tool:') ? failureIn(effect.value) : undefined;
  if (failure === undefined) return effect;
  return tool === undefined || certainlyNot(failure) ? undefined : inDoubt(effect, failure.message);
}

function onceTool(kind: string, { manifest }: RunState): string | undefined {
  const tool = kind.startsWith('tool:') ? kind.slice('tool:'.length) : undefined;
  return tool !== undefined && manifest !== undefined && toolFactsOf(manifest, tool).effect === 'once' ? tool : undefined;
}

function inDoubt({ n, kind }: JournalEffect, why: string): JournalEffect {
  return { n, kind, value: { type: 'unsettled', why: `the call failed: ${why}` } };
}

function failureIn(outcome: unknown): Failure | undefined {
  const { type, error } = (outcome ?? {}) as { readonly type?: unknown; readonly error?: Failure };
  return type === 'failed' ? error : undefined;
}

const beforeTheTool: readonly string[] = ['tool-unknown', 'tool-input-invalid', 'waiting-for-turn', 'worker-half-missing'];

function certainlyNot({ code }: Failure): boolean {
  return beforeTheTool.includes(code);
}

function withoutErrors(progress: Readonly<Record<string, Progress>>): Record<string, Progress> {
  return Object.fromEntries(Object.entries(progress).map(([key, place]) => [key, placeWithoutErrors(place)]));
}

function placeWithoutErrors({ ends, around, ...place }: Progress): Progress {
  const { end, ...open } = around ?? {};
  const kept = Object.entries(ends ?? {}).filter(([, one]) => !('error' in one));
  return {
    ...place,
    ...(ends === undefined ? {} : { ends: Object.fromEntries(kept) }),
    ...(around === undefined ? {} : { around: end === undefined || 'error' in end ? (open as typeof around) : around }),
  };
}

function renewed(state: RunState, error: unknown): Pick<RunState, 'renewed'> {
  const code = codeOf(error);
  return code === 'max-iterations' || code === 'max-tool-iterations' ? { renewed: Object.keys(state.agents) } : {};
}
