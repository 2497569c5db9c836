import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { isRecord } from '../../contract/check';
import { defined } from '../../contract/defined';
import type { PolicyDecision } from '../../contract/decisions';
import type { Interrupt } from '../../contract/interrupts';
import { misfitsOfSchema } from '../../contract/schema/schema-fit';
import { Button } from '../parts/button';
import { changesOf } from '../parts/changes';
import { Diff } from '../parts/diff';
import { JsonField } from '../parts/form-controls';
import { JsonView } from '../parts/json-view';
import { visibleText } from '../parts/plain-text';
import { SaidFrame } from '../parts/said-frame';
import { SchemaForm, schemaLike } from '../parts/schema-form';
import { texts } from '../texts';
import { decideTexts } from '../texts/decide';
import { approvalOf } from './decide';
import type { AnswerDraft } from './drafts';
import { changeDraft } from './drafts';

type Approval = Extract<Interrupt, { kind: 'approval' }>;

interface ApprovalProps {
  readonly id: string;
  readonly interrupt: Approval;
  readonly draft: AnswerDraft;
  /** False: it is settled, or somebody else decides. */
  readonly isOpen: boolean;
  readonly onDecide: (decision: PolicyDecision) => void;
}

/** A call that waits for consent: its arguments, and what can be decided about it. */
export function ApprovalParts(props: ApprovalProps): JSX.Element {
  const { id, interrupt, draft, isOpen } = props;
  const { agent, input, options, problem } = interrupt;
  const isEmpty = isRecord(input) && Object.keys(input).length === 0;
  return (
    <>
      {problem !== undefined && (
        <div class="note warn">
          <strong>{decideTexts.problem}</strong>
          <p>{visibleText(problem)}</p>
        </div>
      )}
      {draft.mode === 'edit' && isOpen ? (
        <EditForm {...props} />
      ) : (
        <SaidFrame who={decideTexts.argumentsOf(visibleText(agent))}>
          {isEmpty ? <p class="muted">{decideTexts.noArguments}</p> : <JsonView value={input} />}
        </SaidFrame>
      )}
      {options !== undefined && (
        <details>
          <summary>{decideTexts.toolOptions}</summary>
          <JsonView value={options} />
        </details>
      )}
      {isOpen && draft.mode === 'reject' && <RejectForm {...props} />}
      {isOpen && draft.mode === 'respond' && <RespondForm {...props} />}
      {isOpen && draft.mode === 'delegate' && <DelegateForm {...props} />}
      {isOpen && draft.mode === 'look' && <MoreConsent {...{ id, interrupt, draft }} />}
    </>
  );
}

/** The buttons below, which stay in sight. */
export function ApprovalActions({ id, interrupt, draft, onDecide }: Omit<ApprovalProps, 'isOpen'>): JSX.Element {
  const mode = (next: AnswerDraft['mode']) => () => changeDraft(id, { mode: next, problem: undefined });
  return (
    <>
      {/* The second click of a double click falls on what comes next: it decides nothing. */}
      <Button kind="primary" shortcut="a" onClick={({ detail }) => detail < 2 && onDecide(approvalOf(draft, interrupt.input))}>
        {decideTexts.approve}
      </Button>
      <Button shortcut="e" onClick={mode('edit')}>
        {decideTexts.edit}
      </Button>
      <Button kind="danger" shortcut="r" onClick={mode('reject')}>
        {decideTexts.reject}
      </Button>
      <span class="more-ways">
        <Button kind="quiet" onClick={mode('respond')}>
          {decideTexts.respond}
        </Button>
        {interrupt.policy !== undefined && interrupt.policy.delegates !== false && (
          <Button kind="quiet" onClick={mode('delegate')}>
            {decideTexts.delegate}
          </Button>
        )}
      </span>
    </>
  );
}

function MoreConsent({ id, interrupt, draft }: Pick<ApprovalProps, 'id' | 'interrupt' | 'draft'>): JSX.Element {
  const amount = interrupt.policy?.amount;
  return (
    <details class="more-consent" open={draft.forRestOfRun === true || undefined}>
      <summary>{decideTexts.moreConsent}</summary>
      <div class="form">
        <label class="check">
          <input
            type="checkbox"
            checked={draft.forRestOfRun === true}
            onChange={({ currentTarget }) => changeDraft(id, { forRestOfRun: currentTarget.checked })}
          />
          <span>{decideTexts.restOfRun(visibleText(interrupt.tool))}</span>
        </label>
        {draft.forRestOfRun === true && amount !== undefined && (
          <SchemaForm
            schema={{ type: 'number', title: decideTexts.upTo(visibleText(amount.path)) }}
            value={draft.upTo}
            onChange={(upTo) => changeDraft(id, { upTo })}
          />
        )}
        <CommentField id={id} draft={draft} />
      </div>
    </details>
  );
}

function CommentField({ id, draft }: { readonly id: string; readonly draft: AnswerDraft }): JSX.Element {
  return (
    <LineField
      label={<span class="light">{decideTexts.comment}</span>}
      value={draft.comment}
      onText={(comment) => changeDraft(id, { comment })}
    />
  );
}

interface LineFieldProps {
  readonly label: JSX.Element;
  readonly value: string | undefined;
  readonly required?: boolean;
  readonly onText: (text: string) => void;
}

function LineField({ label, value = '', required = false, onText }: LineFieldProps): JSX.Element {
  return (
    <label class="field">
      {label}
      <input value={value} required={required} autocomplete="off" onInput={({ currentTarget }) => onText(currentTarget.value)} />
    </label>
  );
}

function EditForm({ id, interrupt, draft, onDecide }: ApprovalProps): JSX.Element {
  const { input, inputSchema } = interrupt;
  const edited = draft.edited ?? input;
  const misfits = misfitsOfSchema(inputSchema, edited);
  const isChanged = changesOf(input, edited).length > 0;
  return (
    <DecisionForm title={decideTexts.editTitle} onSubmit={() => onDecide(approvalOf({ ...draft, edited }, input))}>
      <SchemaForm
        schema={inputSchema ?? schemaLike(input)}
        value={edited}
        misfits={misfits}
        onChange={(next) => changeDraft(id, { edited: next ?? {}, problem: undefined })}
      />
      <div class="changes">
        <h4>{decideTexts.changes}</h4>
        <Diff before={input} after={edited} />
      </div>
      <CommentField id={id} draft={draft} />
      {misfits.length > 0 && <p class="misfit">{visibleText(misfits.join('; '))}</p>}
      <div class="actions start">
        <Button kind="primary" type="submit" disabled={misfits.length > 0}>
          {isChanged ? decideTexts.approveEdited : decideTexts.approveAsIs}
        </Button>
        <LeaveButton id={id} />
      </div>
    </DecisionForm>
  );
}

function RejectForm({ id, draft, onDecide }: ApprovalProps): JSX.Element {
  const { feedback = '', comment = '' } = draft;
  const reject = (): void =>
    onDecide({
      type: 'reject',
      ...defined({ feedback: feedback === '' ? undefined : feedback, comment: comment === '' ? undefined : comment }),
    });
  return (
    <DecisionForm title={decideTexts.reject} onSubmit={reject}>
      <label class="field">
        <span>{decideTexts.feedback}</span>
        <textarea
          rows={3}
          value={feedback}
          onInput={({ currentTarget }) => changeDraft(id, { feedback: currentTarget.value })}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) reject();
          }}
        />
        <small class="muted">{decideTexts.feedbackHint}</small>
      </label>
      <div class="actions start">
        <Button kind="danger" type="submit">
          {decideTexts.reject}
        </Button>
        <LeaveButton id={id} />
      </div>
    </DecisionForm>
  );
}

function RespondForm({ id, draft, onDecide }: ApprovalProps): JSX.Element {
  return (
    <DecisionForm title={decideTexts.respond} onSubmit={() => onDecide({ type: 'respond', output: draft.output ?? null })}>
      <div class="field">
        <label for="respond-output">{decideTexts.output}</label>
        <JsonField common={{ id: 'respond-output' }} value={draft.output} onChange={(output) => changeDraft(id, { output })} />
        <small class="muted">{decideTexts.outputHint}</small>
      </div>
      <div class="actions start">
        <Button kind="primary" type="submit">
          {decideTexts.respond}
        </Button>
        <LeaveButton id={id} />
      </div>
    </DecisionForm>
  );
}

function DelegateForm({ id, draft, onDecide }: ApprovalProps): JSX.Element {
  const { to = '', comment = '' } = draft;
  return (
    <DecisionForm
      title={decideTexts.delegate}
      onSubmit={() => onDecide({ type: 'delegate', to: to.trim(), ...defined({ comment: comment === '' ? undefined : comment }) })}
    >
      <LineField label={<span>{decideTexts.delegateTo}</span>} value={to} required onText={(next) => changeDraft(id, { to: next })} />
      <CommentField id={id} draft={draft} />
      <div class="actions start">
        <Button kind="primary" type="submit">
          {decideTexts.delegate}
        </Button>
        <LeaveButton id={id} />
      </div>
    </DecisionForm>
  );
}

function LeaveButton({ id }: { readonly id: string }): JSX.Element {
  return (
    <Button kind="quiet" onClick={() => changeDraft(id, { mode: 'look', problem: undefined })}>
      {texts.parts.cancel}
    </Button>
  );
}

interface DecisionFormProps {
  readonly title: string;
  readonly children: JSX.Element | readonly (JSX.Element | false | null)[];
  readonly onSubmit: () => void;
}

/** A form that takes the focus when it opens. */
export function DecisionForm({ title, children, onSubmit }: DecisionFormProps): JSX.Element {
  const form = useRef<HTMLFormElement>(null);
  // Before the next key is pressed.
  useLayoutEffect(() => {
    form.current?.querySelector<HTMLElement>('input, textarea, select')?.focus();
    form.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  return (
    <form
      ref={form}
      class="decision-form form"
      aria-label={title}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <h3>{title}</h3>
      {children}
    </form>
  );
}
