import { useEffect, useRef } from 'preact/hooks';
import { caller, may } from '../data/identity';
import { forgetAnswer, givenAnswers, takeBackLast } from '../data/decisions';
import { now } from '../data/clock';
import { knownEndings } from '../data/outcomes';
import { isWide } from '../data/screen';
import { Button, IconButton } from '../parts/button';
import { Copied } from '../parts/copy-button';
import { ErrorFix, ErrorNote } from '../parts/error-note';
import { lazy } from '../parts/lazy';
import { visibleText } from '../parts/plain-text';
import { Badge, Tags } from '../parts/status-badge';
import { Time } from '../parts/time';
import { hrefOf } from '../routes';
import { texts } from '../texts';
import { decideTexts } from '../texts/decide';
import { ApprovalActions, ApprovalParts } from './approval';
import { decide, forbiddenTo, isAsking } from './decide';
import { changeDraft, draftOf } from './drafts';
import { useFocusWish } from './focus';
import { AskingParts } from './question';
import type { AskingRow } from './row';
import { titleOf } from './row';
import { TheirWords } from './title';
import { Why } from './why';
import { stateText } from './words';

const MakeLink = lazy(async () => (await import('./link')).MakeLink, <></>);

export interface DetailProps {
  readonly row: AskingRow;
  readonly back?: { readonly label: string; readonly act: () => void };
  readonly isInRun?: boolean;
  readonly onGiven: () => void;
}

export function Detail({ row, back, isInRun = false, onGiven }: DetailProps) {
  const { listed, key, goneAt } = row;
  const { interrupt, runId } = listed;
  const draft = draftOf(key);
  const top = useRef<HTMLElement>(null);
  const hash = interrupt.kind === 'approval' ? interrupt.inputHash : undefined;
  useEffect(() => {
    if (hash !== undefined && draft.seenHash === undefined) changeDraft(key, { seenHash: hash });
    top.current?.scrollTo(0, 0);
  }, [key]);
  useFocusWish(`decision ${key}`, top);
  const given = givenAnswers.value.get(key);
  const said = stateText(row, given, knownEndings.value.get(key));
  const hasChanged = draft.seenHash !== undefined && hash !== undefined && draft.seenHash !== hash;
  const forbidden = forbiddenTo(interrupt, now.value);
  const isWaiting = isAsking(row);
  const isOpen = isWaiting && !hasChanged && forbidden === undefined;
  return (
    <article class="detail full column" ref={top} aria-labelledby="detail-title" tabIndex={-1} id="decision">
      <div class="detail-inside stack">
        <header class="detail-head flow">
          {back !== undefined && !isWide.value && <IconButton label={back.label} icon="back" onClick={back.act} />}
          <h2 id="detail-title">
            <bdi>{visibleText(headOf(row))}</bdi>
          </h2>
          <Badge kind={interrupt.kind === 'in-doubt' ? 'bad' : 'info'}>{decideTexts.kinds[interrupt.kind]}</Badge>
          <span class="spacer" />
          {!isInRun && (
            <a class="button" href={hrefOf('runs', runId)}>
              {decideTexts.openRun} →
            </a>
          )}
          {back !== undefined && isWide.value && <IconButton label={back.label} icon="close" onClick={back.act} />}
        </header>
        <About row={row} isInRun={isInRun} />
        {said !== undefined && given?.state !== 'refused' && (
          <div class={`note panel flow wrap ${said.kind}`} role="status">
            <strong>{said.text}</strong>
            {given?.state === 'held' && (
              <Button kind="quiet" shortcut="u" onClick={takeBackLast}>
                {texts.parts.undo}
              </Button>
            )}
            <TheirWords answer={knownEndings.value.get(row.key)?.answer} />
          </div>
        )}
        {given?.state === 'refused' && goneAt === undefined && (
          <div class="stack">
            <strong>{decideTexts.refused}</strong>
            <ErrorNote error={given.error} />
            <p>
              <Button onClick={() => forgetAnswer(key)}>{decideTexts.again}</Button>
            </p>
          </div>
        )}
        {hasChanged && isWaiting && (
          <div class="note panel flow wrap warn" role="alert">
            <strong>{decideTexts.changed}</strong>
            <Button onClick={() => changeDraft(key, { seenHash: hash, edited: undefined, mode: 'look', problem: undefined })}>
              {decideTexts.changedAct}
            </Button>
          </div>
        )}
        {isWaiting && forbidden !== undefined && (
          <div class="note panel flow wrap warn">
            <strong>{decideTexts.cannot}</strong>
            <p>{visibleText(forbidden.message)}</p>
          </div>
        )}
        {interrupt.kind === 'approval' ? (
          <ApprovalParts id={key} {...{ interrupt, draft, isOpen }} onDecide={(decision) => decide(listed, decision, onGiven)} />
        ) : (
          <AskingParts key={key} id={key} {...{ interrupt, draft, isOpen }} onAnswer={(answer) => decide(listed, { answer }, onGiven)} />
        )}
        {isOpen && draft.problem !== undefined && (
          <div class="error-note panel stack breaks" role="alert">
            <p>{visibleText(draft.problem)}</p>
            <p class="muted">
              <ErrorFix code="answer-invalid" />
            </p>
          </div>
        )}
        <Why interrupt={interrupt} />
        {isWaiting && caller.value !== undefined && may('links:make') && <MakeLink runId={runId} interruptId={interrupt.id} />}
      </div>
      {isOpen && interrupt.kind === 'approval' && draft.mode === 'look' && (
        <footer class="detail-actions flow wrap">
          <ApprovalActions id={key} interrupt={interrupt} draft={draft} onDecide={(decision) => decide(listed, decision, onGiven)} />
        </footer>
      )}
    </article>
  );
}

function headOf({ listed: { interrupt } }: AskingRow): string {
  const { kind, agent } = interrupt;
  return kind === 'question' || kind === 'custom' ? decideTexts.asks(agent) : titleOf(interrupt);
}

function About({ row: { listed }, isInRun }: { readonly row: AskingRow; readonly isInRun: boolean }) {
  const { runId, agent, startedBy, tags, waitingSince, interrupt } = listed;
  return (
    <div class="about flow wrap small muted breaks">
      {(interrupt.kind === 'approval' || interrupt.kind === 'in-doubt') && <span>{decideTexts.asks(visibleText(interrupt.agent))}</span>}
      {!isInRun && (
        <span>
          {decideTexts.run} <Copied text={runId} />
        </span>
      )}
      {agent !== interrupt.agent && (
        <span>
          {decideTexts.agent} {visibleText(agent)}
        </span>
      )}
      {waitingSince !== undefined && (
        <span>
          {decideTexts.waitingFor} <Time at={waitingSince} isLength />
        </span>
      )}
      {startedBy !== undefined && !isInRun && (
        <span>
          {decideTexts.startedBy} <bdi>{visibleText(startedBy)}</bdi>
        </span>
      )}
      {!isInRun && <Tags tags={tags} />}
    </div>
  );
}
