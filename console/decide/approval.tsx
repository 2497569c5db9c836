import { isRecord } from '../../contract/check';
import type { PolicyDecision } from '../../contract/decisions';
import type { Interrupt } from '../../contract/interrupts';
import { misfitsOfSchema } from '../../contract/schema/schema-fit';
import { Button } from '../parts/button';
import { changesOf } from '../parts/changes';
import { Diff } from '../parts/diff';
import { Check, TextField } from '../parts/fields';
import { LabelledJson } from '../parts/form-controls';
import { JsonView } from '../parts/json-view';
import { filled, visibleText } from '../parts/plain-text';
import { SaidFrame } from '../parts/said';
import { SchemaForm, schemaLike } from '../parts/schema-form';
import { decideTexts } from '../texts/decide';
import { approvalOf } from './decide';
import type { AnswerDraft } from './drafts';
import { changeDraft } from './drafts';
import { DecisionForm } from './form';

type Approval = Extract<Interrupt, { kind: 'approval' }>;

interface ApprovalProps {
  readonly id: string;
  readonly interrupt: Approval;
  readonly draft: AnswerDraft;
  /** False: the interrupt is settled, or another person decides. */
  readonly isOpen: boolean;
  readonly onDecide: (decision: PolicyDecision) => void;
}

export function ApprovalParts(props: ApprovalProps) {
  const { interrupt, draft, isOpen } = props;
  const { agent, input, options, problem } = interrupt;
  const isEmpty = isRecord(input) && Object.keys(input).length === 0;
  return (
    <>
      {problem !== undefined && (
        <div class="note panel flow wrap warn">
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
      {isOpen && draft.mode === 'look' && <MoreConsent {...props} />}
    </>
  );
}

export function ApprovalActions({ id, interrupt, draft, onDecide }: Omit<ApprovalProps, 'isOpen'>) {
  const mode = (next: AnswerDraft['mode']) => () => changeDraft(id, { mode: next, problem: undefined });
  return (
    <>
      {/* The second click of a double click would hit the next question. */}
      <Button kind="primary" shortcut="a" onClick={({ detail }) => detail < 2 && onDecide(approvalOf(draft, interrupt.input))}>
        {decideTexts.approve}
      </Button>
      <Button shortcut="e" onClick={mode('edit')}>
        {decideTexts.edit}
      </Button>
      <Button kind="danger" shortcut="r" onClick={mode('reject')}>
        {decideTexts.reject}
      </Button>
      <span class="flow wrap">
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

function MoreConsent({ id, interrupt, draft }: ApprovalProps) {
  const amount = interrupt.policy?.amount;
  const isForRest = draft.forRestOfRun === true;
  return (
    <details class="more-consent" open={isForRest || undefined}>
      <summary>{decideTexts.moreConsent}</summary>
      <div class="form stack">
        <Check
          label={decideTexts.restOfRun(visibleText(interrupt.tool))}
          checked={isForRest}
          onCheck={(forRestOfRun) => changeDraft(id, { forRestOfRun })}
        />
        {isForRest && amount !== undefined && (
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

function CommentField({ id, draft: { comment = '' } }: Pick<ApprovalProps, 'id' | 'draft'>) {
  return (
    <TextField
      label={<span class="light">{decideTexts.comment}</span>}
      value={comment}
      onText={(next) => changeDraft(id, { comment: next })}
    />
  );
}

function EditForm({ id, interrupt, draft, onDecide }: ApprovalProps) {
  const { input, inputSchema } = interrupt;
  const edited = draft.edited ?? input;
  const misfits = misfitsOfSchema(inputSchema, edited);
  const isChanged = changesOf(input, edited).length > 0;
  return (
    <DecisionForm
      title={decideTexts.editTitle}
      submit={isChanged ? decideTexts.approveEdited : decideTexts.approveAsIs}
      isReady={misfits.length === 0}
      onSubmit={() => onDecide(approvalOf({ ...draft, edited }, input))}
      id={id}
    >
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
    </DecisionForm>
  );
}

function RejectForm({ id, draft: { feedback = '', comment }, onDecide }: ApprovalProps) {
  const reject = (): void => onDecide({ type: 'reject', ...filled({ feedback, comment }) });
  return (
    <DecisionForm title={decideTexts.reject} kind="danger" onSubmit={reject} id={id}>
      <TextField
        label={decideTexts.feedback}
        value={feedback}
        onText={(next) => changeDraft(id, { feedback: next })}
        hint={decideTexts.feedbackHint}
        rows={3}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) reject();
        }}
      />
    </DecisionForm>
  );
}

function RespondForm({ id, draft, onDecide }: ApprovalProps) {
  return (
    <DecisionForm title={decideTexts.respond} onSubmit={() => onDecide({ type: 'respond', output: draft.output ?? null })} id={id}>
      <LabelledJson
        label={decideTexts.output}
        hint={decideTexts.outputHint}
        value={draft.output}
        onChange={(output) => changeDraft(id, { output })}
      />
    </DecisionForm>
  );
}

function DelegateForm({ id, draft, onDecide }: ApprovalProps) {
  const { to = '', comment } = draft;
  return (
    <DecisionForm
      title={decideTexts.delegate}
      onSubmit={() => onDecide({ type: 'delegate', to: to.trim(), ...filled({ comment }) })}
      id={id}
    >
      <TextField label={decideTexts.delegateTo} value={to} required onText={(next) => changeDraft(id, { to: next })} />
      <CommentField id={id} draft={draft} />
    </DecisionForm>
  );
}
