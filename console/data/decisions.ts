import { signal } from '@preact/signals';
import { HoldfastError, codeOf } from '../../contract/errors';
import type { AnswerOfMany, AnswerOutcome } from '../../http/index';
import { texts } from '../texts';
import { toast } from '../parts/toast';
import { keyOfInterrupt } from './interrupt-key';
import { refreshPolls } from './live';
import { service } from './service';

/** Where an answer stands that somebody gave here: held while it can be taken back, then sent. */
export type GivenAnswerState =
  | { readonly state: 'held' | 'sending' | 'counted'; readonly words: string }
  | { readonly state: 'refused'; readonly words: string; readonly error: unknown };

/** How long an answer can be taken back. */
export const undoMs = 5_000;
const mostTogether = 500;
const longestPauseMs = 8_000;

interface Batch {
  readonly answers: readonly AnswerOfMany[];
  readonly words: string;
  timer: ReturnType<typeof setTimeout> | undefined;
  closeToast: () => void;
}

export const givenAnswers = signal<ReadonlyMap<string, GivenAnswerState>>(new Map());
const held = new Set<Batch>();

/** Gives answers in a moment, unless somebody takes them back. `words`: what each row says meanwhile. `told`: what the notice says. */
export function holdAnswers(answers: readonly AnswerOfMany[], words: string, told: string): void {
  const batch: Batch = { answers, words, timer: undefined, closeToast: () => undefined };
  held.add(batch);
  setStates(batch, { state: 'held', words });
  batch.closeToast = toast(told, { ms: undoMs, action: { label: texts.parts.undo, shortcut: 'u', act: () => takeBack(batch) } });
  batch.timer = setTimeout(() => void release(batch), undoMs);
}

/** Takes back what was given last and is not sent yet. Says whether there was anything. */
export function takeBackLast(): boolean {
  const last = [...held].at(-1);
  if (last === undefined) return false;
  takeBack(last);
  return true;
}

/** A refusal that somebody has seen, or a count of what is gone. */
export function forgetAnswer(key: string): void {
  const next = new Map(givenAnswers.peek());
  if (next.delete(key)) givenAnswers.value = next;
}

function takeBack(batch: Batch): void {
  if (!held.delete(batch)) return;
  clearTimeout(batch.timer);
  batch.closeToast();
  setStates(batch, undefined);
}

async function release(batch: Batch): Promise<void> {
  if (!held.delete(batch)) return;
  clearTimeout(batch.timer);
  batch.closeToast();
  setStates(batch, { state: 'sending', words: batch.words });
  const outcomes: AnswerOutcome[] = [];
  for (let from = 0; from < batch.answers.length; from += mostTogether)
    outcomes.push(...(await sendSurely(batch.answers.slice(from, from + mostTogether))));
  const next = new Map(givenAnswers.peek());
  for (const { runId, interruptId, error } of outcomes)
    next.set(
      keyOfInterrupt(runId, interruptId),
      error === undefined ? { state: 'counted', words: batch.words } : { state: 'refused', words: batch.words, error },
    );
  givenAnswers.value = next;
  const refused = outcomes.filter(({ error }) => error !== undefined).length;
  if (refused > 0) toast(texts.decisions.refused(refused, outcomes.length), { kind: 'bad', ms: 12_000 });
  refreshPolls();
}

/** A service that is away comes back: an answer that was given is not lost by that. */
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

function failureOf(error: unknown): NonNullable<AnswerOutcome['error']> {
  const { code, message } = error instanceof HoldfastError ? error : { code: 'internal', message: String(error) };
  return { code, message };
}

function setStates({ answers }: Batch, state: GivenAnswerState | undefined): void {
  const next = new Map(givenAnswers.peek());
  for (const { runId, interruptId } of answers) {
    const key = keyOfInterrupt(runId, interruptId);
    if (state === undefined) next.delete(key);
    else next.set(key, state);
  }
  givenAnswers.value = next;
}

/** Who leaves the page has decided: nothing is held then. */
function releaseAll(): void {
  for (const batch of [...held]) void release(batch);
}

addEventListener('pagehide', releaseAll);
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') releaseAll();
});
