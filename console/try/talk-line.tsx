import type { JSX } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import type { DetailProps } from '../decide/detail';
import type { AskingRow } from '../decide/row';
import { AskingLine } from '../decide/title';
import { JsonView } from '../parts/json-view';
import { lazy } from '../parts/lazy';
import { visibleText } from '../parts/plain-text';
import { Named, Said } from '../parts/said';
import { tryTexts } from '../texts/try';
import type { Questions } from './questions';
import type { TalkEntry } from './talk';

export const Decision = lazy(async () => {
  const { Detail } = await import('../decide/detail');
  return function Drawn({ onDrawn, ...props }: DetailProps & { readonly onDrawn: () => void }) {
    useLayoutEffect(onDrawn, []);
    return <Detail {...props} />;
  };
});

interface TalkLineProps {
  readonly entry: TalkEntry;
  readonly asking: Questions;
  readonly onDrawn: () => void;
}

export function TalkLine({ entry, asking, onDrawn }: TalkLineProps): JSX.Element | null {
  switch (entry.kind) {
    case 'user':
      return (
        <article class={entry.isQueued === true ? 'line panel talk-user dashed' : 'line panel talk-user'}>
          <header class="small muted">
            <Named text={entry.by ?? tryTexts.user} /> {entry.isQueued === true && tryTexts.queued}
          </header>
          <Said text={entry.text} />
        </article>
      );
    case 'agent':
      return (
        <article class="line panel talk-agent" aria-busy={entry.isOpen}>
          <header class="small muted">
            <Named text={entry.agent} />
          </header>
          {entry.text === '' ? <span class="muted">…</span> : <Said text={entry.text} />}
        </article>
      );
    case 'tool':
      return (
        <details class={entry.error === undefined ? 'line talk-tool' : 'line talk-tool bad'}>
          <summary>
            <span class="muted">{tryTexts.tool}</span> <Named isMono text={entry.tool} />{' '}
            <span class="muted">{entry.isOpen ? tryTexts.atWork : entry.error === undefined ? tryTexts.done : tryTexts.failed}</span>
          </summary>
          <JsonView value={entry.input} />
          {entry.error !== undefined && (
            <p class="bad-text breaks">
              <code>{entry.error.code}</code> <bdi>{visibleText(entry.error.message)}</bdi>
            </p>
          )}
          {entry.output !== undefined && entry.error === undefined && (
            <>
              <h3>{tryTexts.result}</h3>
              <JsonView value={entry.output} />
            </>
          )}
        </details>
      );
    case 'question': {
      const row = asking.rows.get(entry.key);
      return row === undefined ? null : <QuestionLine row={row} asking={asking} onDrawn={onDrawn} />;
    }
    case 'error':
      return (
        <div class="line talk-error breaks" role="alert">
          <code>{entry.error.code}</code> <bdi>{visibleText(entry.error.message)}</bdi>
        </div>
      );
    case 'end':
      return <p class="line muted">{tryTexts.ended(entry.status)}</p>;
  }
}

function QuestionLine({
  row,
  asking: { chosen, choose, goOn },
  onDrawn,
}: Omit<TalkLineProps, 'entry'> & { readonly row: AskingRow }): JSX.Element {
  if (row === chosen)
    return (
      <div role="group" class="line panel talk-question stack" aria-label={tryTexts.asked}>
        <Decision key={row.key} row={row} isInRun onGiven={goOn} onDrawn={onDrawn} />
      </div>
    );
  return (
    <div role="group" class="line panel talk-question closed flow wrap" aria-label={tryTexts.asked}>
      <AskingLine row={row} onDecide={() => choose(row.key)} />
    </div>
  );
}
