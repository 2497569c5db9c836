import { defined } from '../../contract/defined';
import type { PolicyDecision } from '../../contract/decisions';
import { isRecord } from '../../contract/check';
import type { Interrupt } from '../../contract/interrupts';
import { refusalOf } from '../../contract/interrupts';
import type { Failure, Json } from '../../contract/messages/messages';
import { whyNot } from '../../contract/who-may-answer';
import { changesOf } from '../parts/changes';
import type { AnswerOfMany, ListedInterrupt } from '../../client/http/index';
import { forgetAnswer, holdAnswers, givenAnswers, takeBackLast } from '../data/decisions';
import { keyOfInterrupt } from '../data/interrupt-key';
import { answerer, askForName, claimed, identity, whyMayNot } from '../data/identity';
import { filled } from '../parts/plain-text';
import { toast } from '../parts/toast';
import { decideTexts } from '../texts/decide';
import type { AnswerDraft } from './drafts';
import { changeDraft, drafts, draftOf } from './drafts';
import { titleOf } from './row';
import type { KeyActions } from '../parts/keyboard';
import type { AskingRow } from './row';

type DecisionKind = 'approve' | 'edited' | 'reject' | 'respond' | 'delegate' | 'answer';

function named(act: () => void): void {
  if (identity.peek().name !== '') act();
  else askForName(act);
}

/** Undefined: the person may decide, or has no name yet. */
export function forbiddenTo(interrupt: Interrupt, at: number): Failure | undefined {
  const missing = whyMayNot('runs:answer');
  if (missing !== undefined) return { code: 'action-forbidden', message: missing };
  return answerer.value.by === undefined ? undefined : whyNot(interrupt, answerer.value, at);
}

export function approvalOf({ forRestOfRun, upTo, comment, edited, mode }: AnswerDraft, input: Json): PolicyDecision {
  const isEdited = mode === 'edit' && edited !== undefined && changesOf(input, edited).length > 0;
  return {
    type: 'approve',
    ...filled({ comment }),
    ...defined({
      editedInput: isEdited ? edited : undefined,
      forRestOfRun: forRestOfRun === true && !isEdited && upTo === undefined ? true : undefined,
      upTo: forRestOfRun === true && !isEdited ? (upTo as number | undefined) : undefined,
    }),
  };
}

/** A misfit is refused without a request. */
export function decide(listed: ListedInterrupt, decision: PolicyDecision | { readonly answer: Json }, onGiven: () => void): void {
  const { runId, interrupt } = listed;
  const key = keyOfInterrupt(runId, interrupt.id);
  named(() => {
    const answer = 'answer' in decision ? decision.answer : (decision as unknown as Json);
    const seen = interrupt.kind === 'approval' ? (drafts.peek().get(key)?.seenHash ?? interrupt.inputHash) : undefined;
    const who = defined({ ...claimed.peek(), inputHash: seen });
    const refused = refusalOf(interrupt, { interruptId: interrupt.id, answer, ...who, ...answerer.peek() }, Date.now());
    if (refused !== undefined) {
      changeDraft(key, { problem: refused.message, wasTried: true });
      // After a new name, the row may be gone from the list.
      if (refused.code === 'answer-forbidden') toast(refused.message, { kind: 'bad', ms: 12_000 });
      return;
    }
    changeDraft(key, { problem: undefined });
    forgetAnswer(key);
    const kind = kindOf(answer, interrupt);
    const name = interrupt.kind === 'approval' ? titleOf(interrupt) : decideTexts.kinds[interrupt.kind];
    holdAnswers([{ runId, interruptId: interrupt.id, answer, ...who }], decideTexts.words[kind], decideTexts.told[kind](name));
    onGiven();
  });
}

/** Each decision is bound to the shown arguments. */
export function decideAll(all: readonly ListedInterrupt[], decision: PolicyDecision & { readonly type: 'approve' | 'reject' }): void {
  named(() => {
    const answers = all.map(({ runId, interrupt }): AnswerOfMany => {
      const inputHash = interrupt.kind === 'approval' ? interrupt.inputHash : undefined;
      return { runId, interruptId: interrupt.id, answer: decision as unknown as Json, ...defined({ ...claimed.peek(), inputHash }) };
    });
    for (const { runId, interruptId } of answers) forgetAnswer(keyOfInterrupt(runId, interruptId));
    holdAnswers(answers, decideTexts.words[decision.type], decideTexts.told[decision.type](decideTexts.calls(answers.length)));
  });
}

export function decidable(all: readonly ListedInterrupt[], at: number): readonly ListedInterrupt[] {
  return all.filter(({ interrupt }) => interrupt.kind === 'approval' && forbiddenTo(interrupt, at) === undefined);
}

export function kindOf(answer: Json, interrupt: Pick<Interrupt, 'kind'>): DecisionKind {
  if (interrupt.kind !== 'approval' || !isRecord(answer)) return 'answer';
  const { type } = answer;
  if (type === 'approve') return answer['editedInput'] === undefined ? 'approve' : 'edited';
  return type === 'reject' || type === 'respond' || type === 'delegate' ? type : 'answer';
}

interface DecisionKeys {
  /** A key must not decide about unseen arguments. */
  readonly chosen: () => AskingRow | undefined;
  readonly onGiven: () => void;
}

export function isAsking({ key, goneAt }: AskingRow): boolean {
  const given = givenAnswers.peek().get(key);
  return goneAt === undefined && (given === undefined || given.state === 'refused');
}

export function decisionKeys({ chosen, onGiven }: DecisionKeys): KeyActions {
  const onChosen = (act: (row: AskingRow) => void) => (): void => {
    const row = chosen();
    if (row !== undefined && isAsking(row)) act(row);
  };
  const toMode = (mode: 'edit' | 'reject') =>
    onChosen((row) => {
      if (row.listed.interrupt.kind === 'approval' && isMine(row)) changeDraft(row.key, { mode, problem: undefined });
    });
  return {
    a: onChosen((row) => approveOrAnswer(row, onGiven)),
    e: toMode('edit'),
    r: toMode('reject'),
    u: takeBackLast,
  };
}

function isMine({ listed }: AskingRow): boolean {
  return forbiddenTo(listed.interrupt, Date.now()) === undefined;
}

function approveOrAnswer(row: AskingRow, onGiven: () => void): void {
  const { listed, key } = row;
  const { interrupt } = listed;
  const draft = draftOf(key);
  if (interrupt.kind !== 'approval') document.querySelector<HTMLElement>('#answer-form :is(input, textarea, select)')?.focus();
  else if (isMine(row) && draft.mode === 'look' && (draft.seenHash ?? interrupt.inputHash) === interrupt.inputHash)
    decide(listed, approvalOf(draft, interrupt.input), onGiven);
}
