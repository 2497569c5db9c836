import type { JSX } from 'preact';
import { JsonView } from '../parts/json-view';
import { visibleText } from '../parts/plain-text';
import { Named, Said } from '../parts/said';
import { tryTexts } from '../texts/try';
import { QuestionLine } from './question-line';
import type { Questions } from './questions';
import type { TalkEntry } from './talk';

interface TalkLineProps {
  readonly entry: TalkEntry;
  readonly asking: Questions;
  readonly onDrawn: () => void;
}

export function TalkLine({ entry, asking, onDrawn }: TalkLineProps): JSX.Element | null {
  switch (entry.kind) {
    case 'user':
      return (
        <article class={entry.isQueued === true ? 'line talk-user queued' : 'line talk-user'}>
          <header class="small muted">
            <Named text={entry.by ?? tryTexts.user} /> {entry.isQueued === true && tryTexts.queued}
          </header>
          <Said text={entry.text} />
        </article>
      );
    case 'agent':
      return (
        <article class="line talk-agent" aria-busy={entry.isOpen}>
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
            <p class="bad-text">
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
      if (row === undefined) return null;
      return <QuestionLine row={row} isChosen={row === asking.chosen} onChoose={asking.choose} onGiven={asking.goOn} onDrawn={onDrawn} />;
    }
    case 'error':
      return (
        <div class="line talk-error" role="alert">
          <code>{entry.error.code}</code> <bdi>{visibleText(entry.error.message)}</bdi>
        </div>
      );
    case 'end':
      return <p class="line muted">{tryTexts.ended(entry.status)}</p>;
  }
}
