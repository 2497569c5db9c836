import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { isRecord } from '../../contract/check';
import { externalCallIn } from '../../contract/external-calls';
import type { InDoubtInfo, Interrupt } from '../../contract/interrupts';
import type { Json } from '../../contract/messages/messages';
import { misfitsOfSchema } from '../../contract/schema/schema-fit';
import { Button } from '../parts/button';
import { CopyButton } from '../parts/copy-button';
import { Fact } from '../parts/fact';
import { JsonField } from '../parts/form-controls';
import { JsonView } from '../parts/json-view';
import { visibleText } from '../parts/plain-text';
import { Said } from '../parts/said';
import { SaidFrame } from '../parts/said-frame';
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

export function AskingParts(props: AskingProps): JSX.Element {
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

function Info({ info }: { readonly info: Json }): JSX.Element {
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

function SchemaAnswer({ id, interrupt, draft, onAnswer }: AskingProps): JSX.Element {
  const { answerSchema } = interrupt;
  useEffect(() => {
    if (draft.answer === undefined && answerSchema !== undefined) changeDraft(id, { answer: initialValue(answerSchema, answerSchema) });
  }, [id]);
  const misfits = answerSchema === undefined || draft.answer === undefined ? [] : misfitsOfSchema(answerSchema, draft.answer);
  const title = isRecord(interrupt.info) && isRecord(interrupt.info['form']) ? interrupt.info['form']['title'] : undefined;
  const send = (
    <Button kind="primary" type="submit">
      {decideTexts.sendAnswer}
    </Button>
  );
  return (
    <AnswerForm id="answer-form" label={texts.form.answer} onSubmit={() => onAnswer(draft.answer ?? null)} buttons={send}>
      {typeof title === 'string' && <h3>{visibleText(title)}</h3>}
      {answerSchema === undefined ? (
        <JsonAnswer id={id} draft={draft} field="free-answer" label={texts.form.answer} />
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

interface JsonAnswerProps extends Pick<AskingProps, 'id' | 'draft'> {
  readonly field: string;
  readonly label: string;
}

function JsonAnswer({ id, draft, field, label }: JsonAnswerProps): JSX.Element {
  return (
    <div class="field">
      <label for={field}>{label}</label>
      <JsonField common={{ id: field }} value={draft.answer} onChange={(answer) => changeDraft(id, { answer, problem: undefined })} />
    </div>
  );
}

function ExternalAnswer({ id, draft, onAnswer }: AskingProps): JSX.Element {
  const { answer } = draft;
  const buttons = (
    <>
      <Button kind="primary" type="submit">
        {decideTexts.sendAnswer}
      </Button>
      <Button onClick={() => onAnswer({ error: typeof answer === 'string' ? answer : JSON.stringify(answer ?? '') })}>
        {decideTexts.externalError}
      </Button>
    </>
  );
  return (
    <AnswerForm id="answer-form" label={texts.form.answer} onSubmit={() => onAnswer({ output: answer ?? null })} buttons={buttons}>
      <JsonAnswer id={id} draft={draft} field="external-output" label={decideTexts.externalOutput} />
    </AnswerForm>
  );
}

function InDoubt({ id, interrupt, draft, isOpen, onAnswer }: AskingProps): JSX.Element {
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
        <dl class="facts">
          {key !== undefined && (
            <Fact name={decideTexts.key}>
              <span class="copied">
                <bdi class="mono">{visibleText(key)}</bdi> <CopyButton text={key} />
              </span>
            </Fact>
          )}
          {attempts !== undefined && <Fact name={decideTexts.attempts}>{attempts}</Fact>}
          {firstAt !== undefined && (
            <Fact name={decideTexts.firstAt}>
              <Time at={firstAt} />
            </Fact>
          )}
          {lastAt !== undefined && lastAt !== firstAt && (
            <Fact name={decideTexts.lastAt}>
              <Time at={lastAt} />
            </Fact>
          )}
          {worker !== undefined && <Fact name={decideTexts.worker}>{visibleText(worker)}</Fact>}
          {reconcile !== undefined && (
            <Fact name={decideTexts.reconcile}>
              {`${decideTexts.reconciled[reconcile.said]}${reconcile.error === undefined ? '' : ` ${visibleText(reconcile.error)}`}`}
            </Fact>
          )}
        </dl>
      </section>
      {isOpen && (
        <AnswerForm
          id="answer-form"
          label={texts.form.answer}
          onSubmit={() => onAnswer({ happened: true, result: draft.answer ?? null })}
          buttons={
            <>
              <Button type="submit">{decideTexts.happened}</Button>
              <Button onClick={() => onAnswer({ happened: false })}>{decideTexts.notHappened}</Button>
            </>
          }
        >
          <JsonAnswer id={id} draft={draft} field="happened-result" label={decideTexts.happenedResult} />
        </AnswerForm>
      )}
    </>
  );
}
