import { useEffect } from 'preact/hooks';
import { isRecord } from '../../contract/check';
import { externalCallIn } from '../../contract/external-calls';
import type { InDoubtInfo, Interrupt } from '../../contract/interrupts';
import type { Json } from '../../contract/messages/messages';
import { misfitsOfSchema } from '../../contract/schema/schema-fit';
import { Button } from '../parts/button';
import { Copied } from '../parts/copy-button';
import { Facts, JsonView } from '../parts/json-view';
import { LabelledJson } from '../parts/form-controls';
import { visibleText } from '../parts/plain-text';
import { Said, SaidFrame } from '../parts/said';
import { SchemaForm } from '../parts/schema-form';
import { initialValue } from '../parts/schema-shape';
import { Time } from '../parts/time';
import { texts } from '../texts';
import { decideTexts } from '../texts/decide';
import type { AnswerDraft } from './drafts';
import { changeDraft } from './drafts';
import { AnswerForm } from './form';

interface AskingProps {
  readonly id: string;
  readonly interrupt: Exclude<Interrupt, { kind: 'approval' }>;
  readonly draft: AnswerDraft;
  readonly isOpen: boolean;
  readonly onAnswer: (answer: Json) => void;
}

export function AskingParts(props: AskingProps) {
  const { interrupt, isOpen } = props;
  if (interrupt.kind === 'in-doubt') return <InDoubt {...props} />;
  const call = externalCallIn(interrupt);
  return (
    <>
      <SaidFrame who={decideTexts.saidBy(visibleText(interrupt.agent))}>
        {call === undefined ? <Info info={interrupt.info} /> : <JsonView value={call.input} />}
      </SaidFrame>
      {isOpen && (call === undefined ? <SchemaAnswer {...props} /> : <ExternalAnswer {...props} />)}
    </>
  );
}

function Info({ info }: { readonly info: Json }) {
  if (!isRecord(info)) return <JsonView value={info} />;
  const { question, details, form: _, ...rest } = info as Readonly<Record<string, Json>>;
  return (
    <>
      {typeof question === 'string' && (
        <div class="question">
          <Said text={question} />
        </div>
      )}
      {details !== undefined && <JsonView value={details} />}
      {Object.keys(rest).length > 0 && <JsonView value={rest} />}
    </>
  );
}

function SchemaAnswer({ id, interrupt, draft, onAnswer }: AskingProps) {
  const { answerSchema } = interrupt;
  useEffect(() => {
    if (draft.answer === undefined && answerSchema !== undefined) changeDraft(id, { answer: initialValue(answerSchema, answerSchema) });
  }, [id]);
  const misfits = answerSchema === undefined || draft.answer === undefined ? [] : misfitsOfSchema(answerSchema, draft.answer);
  const title = isRecord(interrupt.info) && isRecord(interrupt.info['form']) ? interrupt.info['form']['title'] : undefined;
  return (
    <AnswerForm onSubmit={() => onAnswer(draft.answer ?? null)} buttons={<Send />}>
      {typeof title === 'string' && <h3>{visibleText(title)}</h3>}
      {answerSchema === undefined ? (
        <JsonAnswer id={id} draft={draft} label={texts.form.answer} />
      ) : (
        <SchemaForm
          schema={answerSchema}
          value={draft.answer}
          misfits={draft.wasTried === true ? misfits : []}
          onChange={(answer) => changeDraft(id, { answer, problem: undefined })}
        />
      )}
    </AnswerForm>
  );
}

function Send() {
  return (
    <Button kind="primary" type="submit">
      {decideTexts.sendAnswer}
    </Button>
  );
}

function JsonAnswer({ id, draft, label }: Pick<AskingProps, 'id' | 'draft'> & { readonly label: string }) {
  return <LabelledJson label={label} value={draft.answer} onChange={(answer) => changeDraft(id, { answer, problem: undefined })} />;
}

function ExternalAnswer({ id, draft, onAnswer }: AskingProps) {
  const { answer } = draft;
  const buttons = (
    <>
      <Send />
      <Button onClick={() => onAnswer({ error: typeof answer === 'string' ? answer : JSON.stringify(answer ?? '') })}>
        {decideTexts.externalError}
      </Button>
    </>
  );
  return (
    <AnswerForm onSubmit={() => onAnswer({ output: answer ?? null })} buttons={buttons}>
      <JsonAnswer id={id} draft={draft} label={decideTexts.externalOutput} />
    </AnswerForm>
  );
}

function InDoubt({ id, interrupt, draft, isOpen, onAnswer }: AskingProps) {
  // A run of another version may have fewer facts.
  const { input, question, key, attempts, firstAt, lastAt, worker, reconcile } = (
    isRecord(interrupt.info) ? interrupt.info : {}
  ) as Partial<InDoubtInfo>;
  return (
    <>
      {question !== undefined && <p>{visibleText(question)}</p>}
      <SaidFrame who={decideTexts.argumentsOf(visibleText(interrupt.agent))}>
        <JsonView value={input} />
      </SaidFrame>
      <section>
        <h3>{decideTexts.callFacts}</h3>
        <Facts
          facts={[
            [decideTexts.key, key && <Copied text={key} />],
            [decideTexts.attempts, attempts],
            [decideTexts.firstAt, firstAt && <Time at={firstAt} />],
            [decideTexts.lastAt, lastAt && lastAt !== firstAt && <Time at={lastAt} />],
            [decideTexts.worker, worker],
            [decideTexts.reconcile, reconcile && `${decideTexts.reconciled[reconcile.said]} ${reconcile.error ?? ''}`],
          ]}
        />
      </section>
      {isOpen && (
        <AnswerForm
          onSubmit={() => onAnswer({ happened: true, result: draft.answer ?? null })}
          buttons={
            <>
              <Button type="submit">{decideTexts.happened}</Button>
              <Button onClick={() => onAnswer({ happened: false })}>{decideTexts.notHappened}</Button>
            </>
          }
        >
          <JsonAnswer id={id} draft={draft} label={decideTexts.happenedResult} />
        </AnswerForm>
      )}
    </>
  );
}
