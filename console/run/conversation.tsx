import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RunFeed } from '../data/run-feed';
import { Button } from '../parts/button';
import { EmptyState } from '../parts/empty-state';
import { runTexts } from '../texts/run';
import { Entry } from './entry';
import { LiveCalls } from './live-calls';
import type { ConversationEntry } from './entries';

/** So many entries are drawn at first, and with each look further back. */
const piece = 60;
/** The reader is at the end. */
const nearEnd = 80;

interface ConversationProps {
  readonly log: RunFeed;
  readonly entries: readonly ConversationEntry[];
  /** Changes when entries do. */
  readonly count: number;
  readonly onStep: (address: string) => void;
}

/** The conversation as it comes, the end first: what is further back is drawn when somebody looks there. */
export function Conversation({ log, entries, onStep }: ConversationProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const top = useRef<HTMLDivElement>(null);
  const [shown, setShown] = useState(piece);
  const isAtEnd = useRef(true);
  const [hasLeft, setLeft] = useState(false);
  const from = Math.max(0, entries.length - shown);
  const drawn = useGrowing(entries.length, shown, setShown, isAtEnd);
  useEffect(() => {
    const [element, root] = [top.current, box.current];
    if (element === null || root === null) return;
    const observer = new IntersectionObserver(([seen]) => seen?.isIntersecting === true && setShown((count) => count + piece), {
      root,
      rootMargin: '600px 0px 0px 0px',
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [from === 0]);
  const toEnd = (): void => {
    const element = box.current;
    if (element !== null) element.scrollTop = element.scrollHeight;
  };
  // The end stays in sight for whoever is there.
  useLayoutEffect(() => {
    if (isAtEnd.current) toEnd();
  });
  if (entries.length === 0 && log.isRead.value && log.live.size === 0)
    return (
      <EmptyState title={runTexts.emptyTitle}>
        <p>{runTexts.emptyText}</p>
      </EmptyState>
    );
  return (
    <div class="conversation-box">
      <div
        ref={box}
        class="conversation"
        tabIndex={0}
        role="region"
        aria-label={runTexts.tabs.conversation}
        onScroll={({ currentTarget }) => {
          const { scrollTop, scrollHeight, clientHeight } = currentTarget;
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < nearEnd;
          setLeft(!isAtEnd.current);
        }}
      >
        {from > 0 && (
          <div ref={top} class="earlier">
            <Button kind="quiet" onClick={() => setShown((count) => count + piece)}>
              {runTexts.earlier}
            </Button>
          </div>
        )}
        <ol class="entries">
          {entries.slice(from).map((entry) => (
            <Entry key={entry.key} entry={entry} version={versionOf(entry)} onStep={onStep} log={log} />
          ))}
        </ol>
        <LiveCalls log={log} onDrawn={() => isAtEnd.current && toEnd()} />
        {drawn}
      </div>
      {hasLeft && (
        <button type="button" class="button to-end" onClick={toEnd}>
          ↓ {runTexts.latest}
        </button>
      )}
    </div>
  );
}

/** What is drawn keeps its beginning while somebody reads further back and more comes at the end. */
function useGrowing(count: number, shown: number, setShown: (shown: number) => void, isAtEnd: { readonly current: boolean }): null {
  const before = useRef(count);
  useLayoutEffect(() => {
    const added = count - before.current;
    before.current = count;
    if (added > 0 && !isAtEnd.current) setShown(shown + added);
  }, [count]);
  return null;
}

/** An entry of a call is drawn again when it stands still, and when it ends. */
function versionOf(entry: ConversationEntry): string {
  return 'end' in entry && entry.end !== undefined ? 'ended' : 'halt' in entry ? (entry.halt ?? '') : '';
}
