import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Json, Message } from '../../contract/messages/messages';
import type { ModelAsked, ModelRunCall, RequestDiff, ToolRunCall } from '../../client/http/index';
import { usePrices } from '../data/facts';
import { service } from '../data/service';
import { Button } from '../parts/button';
import { Facts, JsonView } from '../parts/json-view';
import { Named, Said, SaidFrame } from '../parts/said';
import { durationText } from '../parts/time';
import { runTexts } from '../texts/run';
import { stepTexts as words } from '../texts/step';
import { speakerOf } from './entries';
import { FailurePart } from './failure';
import { MessageParts } from './message';
import { costOfCall, costText, numberText } from './numbers';
import { resultsOf } from './tool-results';

export function ModelDetail({ id, call }: { readonly id: string; readonly call: ModelRunCall }) {
  const { response, diff, request, retries } = call;
  const { usage, waited } = response ?? {};
  const cost = costOfCall(response?.model, usage, usePrices());
  return (
    <>
      {retries.length > 0 && (
        <Section title={words.retries}>
          {retries.map(({ address, failed }) => (
            <div key={address}>
              <Named isMono text={address} />
              {failed !== undefined && <FailurePart failure={failed} />}
            </div>
          ))}
        </Section>
      )}
      <Section title={words.diff} isOpen>
        {diff === undefined ? <p class="muted">{words.noDiff}</p> : <DiffPart diff={diff} request={request} />}
      </Section>
      <Section title={words.response} isOpen>
        {response === undefined ? (
          <p class="muted">{call.status === 'running' ? words.noAnswer : words.noResponse}</p>
        ) : (
          <>
            {response.failed !== undefined && <FailurePart title={words.failed} failure={response.failed} />}
            {response.message !== undefined && <MessageBlock who={runTexts.who.says(call.agent)} message={response.message} />}
            {response.partial !== undefined && <MessageBlock who={words.said} message={response.partial} />}
            <Facts
              class="run-facts"
              facts={[
                [words.model, response.model],
                [words.finish, response.finish],
                [runTexts.tokens, usage && runTexts.tokensOf(numberText(usage.inputTokens), numberText(usage.outputTokens))],
                [runTexts.cost, cost && costText(cost.amount)],
                [words.waited, waited && durationText(waited.turnMs + waited.busyMs)],
              ]}
            />
          </>
        )}
      </Section>
      <Section title={words.request}>
        <RequestPart id={id} address={call.address} request={request} />
      </Section>
    </>
  );
}

function DiffPart({ diff, request }: { readonly diff: RequestDiff; readonly request: ModelAsked }) {
  if (diff.messages.length === 0 && diff.fields.length === 0) return <p class="muted">{words.same}</p>;
  const is = request as unknown as Readonly<Record<string, Json | undefined>>;
  return (
    <div class="diff-list">
      {diff.fields.map(({ name, before }) => (
        <div key={name} class="diff-field">
          <h3>{fieldTitle(name)}</h3>
          <del>
            <span class="diff-mark strong">− {words.was}</span>
            <ValueOr value={before ?? undefined} />
          </del>
          <ins>
            <span class="diff-mark strong">+ {words.is}</span>
            <ValueOr value={is[name]} />
          </ins>
        </div>
      ))}
      {diff.messages.map(({ at, removed, added }) => (
        <div key={at} class="diff-field">
          {removed.map((message) => (
            <del key={message.id}>
              <span class="diff-mark strong">− {words.removed}</span>
              <MessageBlock message={message} />
            </del>
          ))}
          {added.map((message) => (
            <ins key={message.id}>
              <span class="diff-mark strong">+ {words.added}</span>
              <MessageBlock message={message} />
            </ins>
          ))}
        </div>
      ))}
      {diff.more === true && <p class="muted">{words.more}</p>}
    </div>
  );
}

function ValueOr({ value }: { readonly value: Json | undefined }) {
  return value === undefined ? <span class="muted">{words.none}</span> : <JsonView value={value} />;
}

function Titled({ title, value }: { readonly title: string; readonly value: Json | undefined }) {
  if (value === undefined) return null;
  return (
    <>
      <h3>{title}</h3>
      <JsonView value={value} />
    </>
  );
}

function fieldTitle(name: string): string {
  const title = (words as Readonly<Record<string, unknown>>)[name];
  return typeof title === 'string' ? title : name;
}

interface RequestProps {
  readonly id: string;
  readonly address: string;
  readonly request: ModelAsked;
}

function RequestPart({ id, address, request }: RequestProps) {
  const [earlier, setEarlier] = useState<readonly ModelAsked[]>([]);
  useEffect(() => setEarlier([]), [address]);
  const first = earlier[0] ?? request;
  const messages = [...earlier.flatMap((page) => page.messages), ...request.messages];
  const loadEarlier = async (): Promise<void> => {
    const call = await service.call(id, address, { before: first.from });
    if (call.kind === 'model') setEarlier((known) => [call.request, ...known]);
  };
  const { instructions, tools, model, settings, workerMiddleware, output, catalog, deferred, final } = request;
  return (
    <>
      <Facts
        class="run-facts"
        facts={[
          [words.model, model],
          [words.tools, tools?.join(', ')],
          [words.workerMiddleware, workerMiddleware?.join(', ')],
          [words.output, output],
          [words.catalog, catalog?.join(', ')],
        ]}
      />
      <Titled title={words.settings} value={settings} />
      <Titled title={words.deferred} value={deferred} />
      <h3>{words.instructions}</h3>
      <SaidFrame who={words.instructions}>
        {instructions ? <Said text={instructions} /> : <span class="muted">{words.none}</span>}
      </SaidFrame>
      <h3>{words.messages(first.from, first.from + messages.length, request.total)}</h3>
      {first.from > 0 && (
        <Button kind="quiet" onClick={() => void loadEarlier()}>
          {words.earlier}
        </Button>
      )}
      {messages.map((message) => (
        <MessageBlock key={message.id} message={message} />
      ))}
      {final !== undefined && (
        <SaidFrame who={words.final}>
          <Said text={final} />
        </SaidFrame>
      )}
    </>
  );
}

export function ToolDetail({ call }: { readonly call: ToolRunCall }) {
  const { request, response, status } = call;
  const { outcome, message } = response ?? {};
  const { seen, given } = resultsOf(call);
  return (
    <>
      <Section title={runTexts.arguments} isOpen>
        <JsonView value={request.input} />
        <Titled title={words.rawInput} value={request.rawInput} />
        <Titled title={words.options} value={request.options} />
        <Facts class="run-facts" facts={[[words.workerMiddleware, request.workerMiddleware?.join(', ')]]} />
      </Section>
      <Section title={runTexts.result} isOpen>
        {outcome === undefined && message === undefined && <p class="muted">{status === 'running' ? words.noAnswer : words.noResponse}</p>}
        {seen !== undefined && <MessageBlock who={words.seen} message={seen} />}
        {given !== undefined && <MessageBlock who={seen === undefined ? words.given : words.givenFirst} message={given} />}
        {outcome?.type === 'failed' && <FailurePart failure={outcome.error} />}
        {outcome !== undefined && outcome.type !== 'done' && outcome.type !== 'failed' && <JsonView value={outcome} />}
      </Section>
    </>
  );
}

interface MessageBlockProps {
  readonly message: Message;
  /** Absent: the role of the message says who speaks. */
  readonly who?: string;
}

function MessageBlock({ message, who }: MessageBlockProps) {
  const speaker = speakerOf(message.role === 'assistant' ? { message, agent: runTexts.agent } : { message });
  return (
    <SaidFrame who={who ?? speaker}>
      <MessageParts message={message} withCalls />
    </SaidFrame>
  );
}

interface SectionProps {
  readonly title: string;
  readonly isOpen?: boolean;
  readonly children: ComponentChildren;
}

function Section({ title, isOpen = false, children }: SectionProps) {
  return (
    <details class="step-section" open={isOpen}>
      <summary>{title}</summary>
      <div>{children}</div>
    </details>
  );
}
