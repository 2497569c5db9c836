import { signal } from '@preact/signals';
import { codeOf } from '../../contract/errors';
import type { AnswerOfMany, AnswerOutcome } from '../../client/http/index';
import { texts } from '../texts';
import { toast } from '../parts/toast';
import { keyOfInterrupt } from './interrupt-key';
import { refreshPolls } from './live';
import { failureOf, service } from './service';

/** `held`: the person can still take the answer back. */
export type GivenAnswerState =
  | { readonly state: 'held' | 'sending' | 'counted'; readonly words: string }
  | { readonly state: 'refused'; readonly words: string; readonly error: unknown };

const undoMs = 5_000;
const mostTogether = 500;
const longestPauseMs = 8_000;

interface Batch {
  readonly answers: readonly AnswerOfMany[];
  readonly words: string;
  timer?: ReturnType<typeof setTimeout>;
  closeToast?: () => void;
}

export const givenAnswers = signal<ReadonlyMap<string, GivenAnswerState>>(new Map());
const held = new Set<Batch>();

/** The person can take answers back for a moment. `words`: for the rows. `told`: for the notice. */
export function holdAnswers(answers: readonly AnswerOfMany[], words: string, told: string): void {
  const batch: Batch = { answers, words };
  held.add(batch);
  setStates(answers, () => ({ state: 'held', words }));
  batch.closeToast = toast(told, { ms: undoMs, action: { label: texts.parts.undo, shortcut: 'u', act: () => takeBack(batch) } });
  batch.timer = setTimeout(() => void release(batch), undoMs);
}

export function takeBackLast(): void {
  const last = [...held].at(-1);
  if (last !== undefined) takeBack(last);
}

export function forgetAnswer(key: string): void {
  const next = new Map(givenAnswers.peek());
  if (next.delete(key)) givenAnswers.value = next;
}

function letGo(batch: Batch): boolean {
  clearTimeout(batch.timer);
  batch.closeToast?.();
  return held.delete(batch);
}

function takeBack(batch: Batch): void {
  if (letGo(batch)) setStates(batch.answers, () => undefined);
}

async function release(batch: Batch): Promise<void> {
  if (!letGo(batch)) return;
  const { answers, words } = batch;
  setStates(answers, () => ({ state: 'sending', words }));
  const outcomes: AnswerOutcome[] = [];
  for (let from = 0; from < answers.length; from += mostTogether)
    outcomes.push(...(await sendSurely(answers.slice(from, from + mostTogether))));
  setStates(outcomes, ({ error }) => (error === undefined ? { state: 'counted', words } : { state: 'refused', words, error }));
  const refused = outcomes.filter(({ error }) => error !== undefined).length;
  if (refused > 0) toast(texts.decisions.refused(refused, outcomes.length), { kind: 'bad', ms: 12_000 });
  refreshPolls();
}

/** An outage must not lose an answer. */
async function sendSurely(answers: readonly AnswerOfMany[]): Promise<readonly AnswerOutcome[]> {
  for (let failures = 0; ; failures++) {
    try {
      return await send(answers);
    } catch (error) {
      if (codeOf(error) !== 'service-unreachable')
        return answers.map(({ runId, interruptId }) => ({ runId, interruptId, error: failureOf(error) }));
      await new Promise((resolve) => setTimeout(resolve, Math.min(longestPauseMs, 500 * 2 ** failures)));
    }
  }
}

async function send(answers: readonly AnswerOfMany[]): Promise<readonly AnswerOutcome[]> {
  const [first] = answers;
  if (first === undefined || answers.length > 1) return service.answerAll(answers);
  const { runId, interruptId, ...body } = first;
  await service.answer(runId, interruptId, body);
  return [{ runId, interruptId }];
}

type Answered = Pick<AnswerOutcome, 'runId' | 'interruptId'>;

function setStates<Of extends Answered>(all: readonly Of[], stateOf: (one: Of) => GivenAnswerState | undefined): void {
  const next = new Map(givenAnswers.peek());
  for (const one of all) {
    const key = keyOfInterrupt(one.runId, one.interruptId);
    const state = stateOf(one);
    if (state === undefined) next.delete(key);
    else next.set(key, state);
  }
  givenAnswers.value = next;
}

function releaseAll(): void {
  for (const batch of [...held]) void release(batch);
}

addEventListener('pagehide', releaseAll);
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') releaseAll();
});
