import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { isRecord } from '../../contract/check';
import type { RunEvent } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import type { Json } from '../../contract/messages/messages';
import { now } from '../data/clock';
import type { InterruptEnding } from '../data/outcomes';
import type { RunFeed } from '../data/run-feed';
import { TheirWords } from '../decide/title';
import { titleOf } from '../decide/row';
import { endingText } from '../decide/words';
import { Diff } from '../parts/diff';
import { FailureLine } from '../parts/error-note';
import { JsonView } from '../parts/json-view';
import { visibleText } from '../parts/plain-text';
import { Badge } from '../parts/status-badge';
import { Time, durationText } from '../parts/time';
import { hrefOf } from '../routes';
import { decideTexts } from '../texts/decide';
import { runTexts } from '../texts/run';
import { changedByText } from './changes';
import { FailurePart } from './failure';
import { MessageParts } from './message';
import { causeOf, noteOf } from './notes';
import type { ConversationEntry, EntryOf, Halt } from './entries';
import { speakerOf } from './entries';

interface EntryProps {
  readonly entry: ConversationEntry;
  /** Changes with the content of the entry. */
  readonly version: string;
  readonly onStep: (address: string) => void;
  readonly log: RunFeed;
}

export function Entry({ entry, version, onStep, log }: EntryProps) {
  return useMemo(() => entryOf({ entry, onStep, log }), [entry, version]);
}

function entryOf({ entry, onStep, log }: Omit<EntryProps, 'version'>): JSX.Element {
  switch (entry.kind) {
    case 'message':
      return <MessageEntry {...{ entry, onStep }} />;
    case 'call':
      return <CallEntry {...{ entry, onStep, log }} />;
    case 'turn':
      return (
        <li class="turn-line flow small muted">
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
}

interface Of<Kind extends ConversationEntry['kind']> extends Pick<EntryProps, 'onStep' | 'log'> {
  readonly entry: EntryOf<Kind>;
}

function MessageEntry({ entry, onStep }: Omit<Of<'message'>, 'log'>) {
  const { message, depth, time, address, isPartial, changes, model } = entry;
  const isUser = message.role === 'user' || message.role === 'system';
  return (
    <li class={isUser ? 'entry from-user' : 'entry'} style={indent(depth)}>
      <div class="entry-head flow wrap">
        <strong class="breaks" title={model === undefined ? undefined : visibleText(model)}>
          <bdi>{visibleText(speakerOf(entry))}</bdi>
        </strong>
        <span class="muted">
          <Time at={time} />
        </span>
        {isPartial === true && <Badge kind="warn">{runTexts.partial}</Badge>}
        {changes !== undefined && <Badge kind="info">{changedByText(changes)}</Badge>}
        {address !== undefined && <StepButton address={address} onStep={onStep} />}
      </div>
      <div class="bubble panel">
        <MessageParts message={message} withCalls={model === undefined} />
      </div>
    </li>
  );
}

function StepButton({ address, onStep }: Pick<EntryProps, 'onStep'> & { readonly address: string }) {
  return (
    <button type="button" class="link bare small" title={visibleText(address)} onClick={() => onStep(address)}>
      {runTexts.step}
    </button>
  );
}

function CallEntry({ entry, onStep, log }: Of<'call'>) {
  const { tool, input, end, start, halt, address, depth } = entry;
  const kind = end === undefined ? 'info' : end.error !== undefined ? 'bad' : address === undefined ? 'calm' : 'good';
  return (
    <li class="entry" style={indent(depth)}>
      <details class={`call-card panel ${kind}`}>
        <summary class="flow">
          <strong class="cut mono">
            <bdi>{visibleText(tool)}</bdi>
          </strong>
          <bdi class="grow cut muted">{visibleText(lineOf(input))}</bdi>
          <Took since={start} end={end?.time} halt={halt} />
          {address === undefined && <Badge>{runTexts.notCalled}</Badge>}
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
              <MessageParts message={end.message} />
            </>
          )}
          {address !== undefined && <StepButton address={address} onStep={onStep} />}
        </div>
      </details>
      {end === undefined && address !== undefined && <Progress log={log} address={address} />}
    </li>
  );
}

interface TookProps {
  readonly since: number;
  readonly end: number | undefined;
  readonly halt: Halt | undefined;
}

function Took({ since, end, halt }: TookProps) {
  if (end !== undefined) return <span class="fixed muted numbers">{durationText(end - since)}</span>;
  if (halt !== undefined) return <Badge kind={halt === 'over' ? 'calm' : 'warn'}>{runTexts.halts[halt]}</Badge>;
  return <Badge kind="info">{`${runTexts.running} ${durationText(Math.max(0, now.value - since))}`}</Badge>;
}

function Progress({ log, address }: { readonly log: RunFeed; readonly address: string }) {
  void log.liveDrawn.value;
  const live = log.live.get(address);
  const last = live?.progress;
  if (live === undefined || (last === undefined && live.output === '')) return null;
  return (
    <div class="progress" aria-label={runTexts.progress}>
      {last !== undefined && <JsonView value={last} />}
      {live.output !== '' && <MessageParts message={{ parts: [{ type: 'text', text: live.output }] }} />}
    </div>
  );
}

function AgentEntry({ entry: { agent, run, end, halt, depth, time } }: Pick<Of<'agent'>, 'entry'>) {
  const state = end === undefined ? 'info' : end.error === undefined ? 'good' : 'bad';
  return (
    <li class="entry" style={indent(depth)}>
      <div class={`lane-card panel flow wrap ${state}`}>
        <Badge>{runTexts.isolated}</Badge>
        <strong>
          <bdi>{visibleText(agent)}</bdi>
        </strong>
        <Took since={time} end={end?.time} halt={halt} />
        {end?.error !== undefined && <Badge kind="bad">{end.error.code}</Badge>}
        <a href={hrefOf('runs', run)}>{runTexts.openRun}</a>
      </div>
    </li>
  );
}

function WaitEntry({ entry: { interrupt, end, halt, time } }: Pick<Of<'wait'>, 'entry'>) {
  const edited = isRecord(end?.answer) ? end.answer['editedInput'] : undefined;
  return (
    <li class="entry note-entry flow wrap breaks">
      <Badge kind={end === undefined && halt === undefined ? 'warn' : 'calm'}>
        {end === undefined && halt === undefined ? runTexts.kinds.wait : runTexts.waited}
      </Badge>
      <span>
        <bdi>{visibleText(interrupt.agent)}</bdi>{' '}
        {interrupt.kind === 'question' || interrupt.kind === 'custom'
          ? runTexts.askedQuestion
          : runTexts.asked(visibleText(titleOf(interrupt)))}
      </span>
      <span class="muted">{end === undefined ? <Time at={time} /> : `${endText(interrupt, end)}, ${durationText(end.time - time)}`}</span>
      {end !== undefined && <TheirWords answer={end.answer} />}
      {interrupt.kind === 'approval' && (
        <details class="note-data">
          <summary>{edited === undefined ? runTexts.arguments : decideTexts.changes}</summary>
          {edited === undefined ? <JsonView value={interrupt.input} /> : <Diff before={interrupt.input} after={edited} />}
        </details>
      )}
    </li>
  );
}

function endText(interrupt: Interrupt, end: InterruptEnding): string {
  return end.reason === 'answer' ? endingText(interrupt, end) : runTexts.answered[end.reason];
}

function NoteEntry({ event }: { readonly event: RunEvent }) {
  const { error, by } = causeOf(event);
  const isBad = error !== undefined || (event.type === 'run-end' && event.status === 'failed');
  const reason = 'reason' in event && typeof event.reason === 'string' ? event.reason : undefined;
  return (
    <li class={isBad ? 'entry note-entry flow wrap breaks bad' : 'entry note-entry flow wrap breaks'}>
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

function lineOf(value: Json): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}
