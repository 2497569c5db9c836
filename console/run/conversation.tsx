import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RunFeed, SayingCall } from '../data/run-feed';
import { Button } from '../parts/button';
import { EmptyState } from '../parts/error-note';
import { runTexts } from '../texts/run';
import { Entry } from './entry';
import type { ConversationEntry } from './entries';
import { visibleText } from '../parts/plain-text';
import { Said } from '../parts/said';
import { Reasoning } from './message';

const piece = 60;
const nearEnd = 80;

interface ConversationProps {
  readonly log: RunFeed;
  readonly entries: readonly ConversationEntry[];
  readonly onStep: (address: string) => void;
}

export function Conversation({ log, entries, onStep }: ConversationProps) {
  const box = useRef<HTMLDivElement>(null);
  const top = useRef<HTMLDivElement>(null);
  const [shown, setShown] = useState(piece);
  const isAtEnd = useRef(true);
  const [hasLeft, setLeft] = useState(false);
  // The list grows in place, so that equal props may have new entries.
  void log.drawn.value;
  const from = Math.max(0, entries.length - shown);
  useGrowing(entries.length, shown, setShown, isAtEnd);
  useReached(top, box, from === 0, () => setShown((count) => count + piece));
  const toEnd = (): void => {
    const element = box.current;
    if (element !== null) element.scrollTop = element.scrollHeight;
  };
  useLayoutEffect(() => {
    if (isAtEnd.current) toEnd();
  });
  if (entries.length === 0 && log.isRead.value && log.live.size === 0)
    return <EmptyState title={runTexts.emptyTitle} text={runTexts.emptyText} />;
  return (
    <div class="conversation-box grow">
      <div
        ref={box}
        class="conversation full"
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
      </div>
      {hasLeft && (
        <button type="button" class="button to-end" onClick={toEnd}>
          ↓ {runTexts.latest}
        </button>
      )}
    </div>
  );
}

type Ref = { readonly current: HTMLElement | null };

/** Calls `reached` when the element is nearly in sight. */
function useReached(element: Ref, root: Ref, isGone: boolean, reached: () => void): void {
  useEffect(() => {
    if (element.current === null || root.current === null) return;
    const observer = new IntersectionObserver(([seen]) => seen?.isIntersecting === true && reached(), {
      root: root.current,
      rootMargin: '600px 0px 0px 0px',
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [isGone]);
}

/** New entries must not push out the first drawn entry while a person reads further back. */
function useGrowing(count: number, shown: number, setShown: (shown: number) => void, isAtEnd: { readonly current: boolean }): void {
  const before = useRef(count);
  useLayoutEffect(() => {
    const added = count - before.current;
    before.current = count;
    if (added > 0 && !isAtEnd.current) setShown(shown + added);
  }, [count]);
}

/** An open entry is drawn again when the entry halts or ends. */
function versionOf(entry: ConversationEntry): string {
  return 'end' in entry && entry.end !== undefined ? 'ended' : 'halt' in entry ? (entry.halt ?? '') : '';
}

export function LiveCalls({ log, onDrawn }: { readonly log: RunFeed; readonly onDrawn: () => void }) {
  void log.liveDrawn.value;
  const calls = [...log.live.values()].filter(({ address }) => /\/model(\.\d+)?$/.test(address));
  useLayoutEffect(onDrawn);
  if (calls.length === 0) return null;
  return (
    <ol class="entries" aria-busy="true">
      {calls.map((call) => (
        <Speaking key={call.address} call={call} />
      ))}
    </ol>
  );
}

function Speaking({ call: { agent, text, reasoning, inputs } }: { readonly call: SayingCall }) {
  const writing = [...inputs.values()].at(-1);
  return (
    <li class="entry live">
      <div class="entry-head flow wrap">
        <strong class="breaks">
          <bdi>{visibleText(agent)}</bdi>
        </strong>
        {text === '' && (
          <span class="muted">{writing === undefined ? runTexts.thinking : runTexts.writing(visibleText(writing.tool))}</span>
        )}
      </div>
      <div class="bubble panel dashed">
        <Reasoning text={reasoning} isOpen={text === ''} />
        {text !== '' && <Said text={tailOf(text)} />}
        {writing !== undefined && writing.text !== '' && <Said isMono text={tailOf(writing.text)} />}
      </div>
    </li>
  );
}

function tailOf(text: string): string {
  return text.length <= 3_900 ? text : `…${text.slice(-3_900)}`;
}
