import type { ComponentChildren, JSX } from 'preact';
import { memo } from './memo';
import type { RunEvent } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import type { Json } from '../../contract/messages/messages';
import { now } from '../data/clock';
import type { RunFeed } from '../data/run-feed';
import { titleOf } from '../decide/row';
import { JsonView } from '../parts/json-view';
import { visibleText } from '../parts/plain-text';
import { Badge } from '../parts/status-badge';
import { Time, durationText } from '../parts/time';
import { hrefOf } from '../routes';
import { runTexts } from '../texts/run';
import { changedByText } from './changes';
import { FailureLine, FailurePart } from './failure';
import { MessageParts, Output } from './message';
import { noteOf } from './notes';
import type { ConversationEntry } from './steps';

interface EntryProps {
  readonly entry: ConversationEntry;
  /** Another one when what is shown has changed. */
  readonly version: string;
  readonly onStep: (address: string) => void;
  readonly log: RunFeed;
}

export const Entry = memo(
  function Entry({ entry, onStep, log }: EntryProps): JSX.Element {
    switch (entry.kind) {
      case 'message':
        return <MessageEntry entry={entry} onStep={onStep} />;
      case 'call':
        return <CallEntry entry={entry} onStep={onStep} log={log} />;
      case 'turn':
        return (
          <li class="turn-line">
            <span>{runTexts.turn(entry.turn)}</span>
          </li>
        );
      case 'agent':
        return <AgentEntry entry={entry} />;
      case 'wait':
        return <WaitEntry entry={entry} />;
      case 'note':
        return <NoteEntry event={entry.event} />;
    }
  },
  (before, after) => before.entry === after.entry && before.version === after.version,
);

type Of<Kind extends ConversationEntry['kind']> = Extract<ConversationEntry, { kind: Kind }>;

function MessageEntry({ entry, onStep }: { readonly entry: Of<'message'>; readonly onStep: (address: string) => void }): JSX.Element {
  const { message, agent, by, depth, time, address, isPartial, changes, model } = entry;
  const isUser = message.role === 'user' || message.role === 'system';
  const who = agent ?? by ?? (message.role === 'system' ? runTexts.who.system : runTexts.who.user);
  return (
    <li class={isUser ? 'entry from-user' : 'entry'} style={indent(depth)}>
      <EntryHead who={who} time={time} title={model === undefined ? undefined : visibleText(model)}>
        {isPartial === true && <Badge kind="warn">{runTexts.partial}</Badge>}
        {changes !== undefined && <Badge kind="info">{changedByText(changes)}</Badge>}
        {address !== undefined && <StepButton address={address} onStep={onStep} />}
      </EntryHead>
      <div class="bubble">
        <MessageParts message={message} withCalls={agent === undefined} />
      </div>
    </li>
  );
}

interface HeadProps {
  readonly who: string;
  readonly time: number;
  readonly title?: string | undefined;
  readonly children?: ComponentChildren;
}

/** Who says what is in the frame below. */
function EntryHead({ who, time, title, children }: HeadProps): JSX.Element {
  return (
    <div class="entry-head">
      <strong title={title}>
        <bdi>{visibleText(who)}</bdi>
      </strong>
      <span class="muted">
        <Time at={time} />
      </span>
      {children}
    </div>
  );
}

function StepButton({ address, onStep }: { readonly address: string; readonly onStep: (address: string) => void }): JSX.Element {
  return (
    <button type="button" class="link step-link" title={visibleText(address)} onClick={() => onStep(address)}>
      {runTexts.step}
    </button>
  );
}

function CallEntry({
  entry,
  onStep,
  log,
}: {
  readonly entry: Of<'call'>;
  readonly onStep: (address: string) => void;
  readonly log: RunFeed;
}): JSX.Element {
  const { tool, input, end, start, address, depth } = entry;
  const kind = end === undefined ? 'info' : end.error === undefined ? 'good' : 'bad';
  const [result] = end?.message.parts ?? [];
  return (
    <li class="entry call" style={indent(depth)}>
      <details class={`call-card ${kind}`}>
        <summary>
          <strong class="mono">
            <bdi>{visibleText(tool)}</bdi>
          </strong>
          <bdi class="call-line muted">{visibleText(lineOf(input))}</bdi>
          {end === undefined ? <Running since={start} /> : <span class="muted">{durationText(end.time - start)}</span>}
          {end?.error !== undefined && <Badge kind="bad">{end.error.code}</Badge>}
          {end?.changes !== undefined && <Badge kind="info">{changedByText(end.changes)}</Badge>}
        </summary>
        <div class="call-inside">
          <h3>{runTexts.arguments}</h3>
          <JsonView value={input} />
          {end !== undefined && (
            <>
              <h3>{end.error === undefined ? runTexts.result : runTexts.error}</h3>
              {end.error !== undefined && <FailureLine code={end.error.code} />}
              {result?.type === 'tool-result' ? (
                <Output output={result.output} isParts={result.multipart === true} />
              ) : (
                <MessageParts message={end.message} />
              )}
            </>
          )}
          <StepButton address={address} onStep={onStep} />
        </div>
      </details>
      {end === undefined && <Progress log={log} address={address} />}
    </li>
  );
}

function Running({ since }: { readonly since: number }): JSX.Element {
  return <Badge kind="info">{`${runTexts.running} ${durationText(Math.max(0, now.value - since))}`}</Badge>;
}

/** What a tool reports while it runs, and what it has given so far. */
function Progress({ log, address }: { readonly log: RunFeed; readonly address: string }): JSX.Element | null {
  void log.liveDrawn.value;
  const live = log.live.get(address);
  const last = live?.progress.at(-1);
  if (live === undefined || (last === undefined && live.output === '')) return null;
  return (
    <div class="progress" aria-label={runTexts.progress}>
      {last !== undefined && <JsonView value={last} />}
      {live.output !== '' && <MessageParts message={{ parts: [{ type: 'text', text: live.output }] }} />}
    </div>
  );
}

function AgentEntry({ entry: { agent, run, end, depth, time } }: { readonly entry: Of<'agent'> }): JSX.Element {
  const state = end === undefined ? 'info' : end.error === undefined ? 'good' : 'bad';
  return (
    <li class="entry" style={indent(depth)}>
      <div class={`lane-card ${state}`}>
        <Badge>{runTexts.isolated}</Badge>
        <strong>
          <bdi>{visibleText(agent)}</bdi>
        </strong>
        {end === undefined ? <Running since={time} /> : <span class="muted">{durationText(end.time - time)}</span>}
        {end?.error !== undefined && <Badge kind="bad">{end.error.code}</Badge>}
        <a href={hrefOf('runs', run)}>{runTexts.openRun}</a>
      </div>
    </li>
  );
}

function WaitEntry({ entry: { interrupt, end, time } }: { readonly entry: Of<'wait'> }): JSX.Element {
  return (
    <li class="entry note-entry">
      <Badge kind={end === undefined ? 'warn' : 'calm'}>{runTexts.kinds.wait}</Badge>
      <span>
        <bdi>{visibleText(interrupt.agent)}</bdi>{' '}
        {isQuestion(interrupt) ? runTexts.askedQuestion : runTexts.asked(visibleText(titleOf(interrupt)))}
      </span>
      {end === undefined ? (
        <span class="muted">
          <Time at={time} />
        </span>
      ) : (
        <span class="muted">
          {end.reason === 'answer' && end.by !== undefined ? runTexts.answeredBy(visibleText(end.by)) : runTexts.answered[end.reason]},{' '}
          {durationText(end.time - time)}
        </span>
      )}
    </li>
  );
}

/** Its words are those of a model: who wants to read them opens it. */
function isQuestion({ kind }: Interrupt): boolean {
  return kind === 'question' || kind === 'custom';
}

function NoteEntry({ event }: { readonly event: RunEvent }): JSX.Element {
  const error = 'error' in event && typeof event.error === 'object' ? event.error : undefined;
  const by = 'by' in event && typeof event.by === 'string' ? event.by : undefined;
  const isBad = error !== undefined || (event.type === 'run-end' && event.status === 'failed');
  const reason = 'reason' in event && typeof event.reason === 'string' ? event.reason : undefined;
  return (
    <li class={isBad ? 'entry note-entry bad' : 'entry note-entry'}>
      <span>
        {noteOf(event)}
        {by !== undefined && <> {runTexts.notes.by(visibleText(by))}</>}
      </span>
      <span class="muted">
        <Time at={event.time} />
      </span>
      {reason !== undefined && <bdi>{visibleText(reason.slice(0, 1_000))}</bdi>}
      {event.type === 'custom' && (
        <div class="note-data">
          <JsonView value={event.data} depth={2} />
        </div>
      )}
      {error !== undefined && (
        <div class="note-data">
          <FailurePart failure={error} />
        </div>
      )}
    </li>
  );
}

function indent(depth: number): { readonly marginLeft?: string } {
  return depth === 0 ? {} : { marginLeft: `${Math.min(depth, 6) * 1.1}rem` };
}

/** A value in a line. */
export function lineOf(value: Json): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}
