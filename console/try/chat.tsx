import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { codeOf } from '../../contract/errors';
import type { MessageRequest } from '../../http/index';
import { claimed } from '../data/identity';
import { service } from '../data/service';
import { followLog } from '../data/follow-log';
import { NameDialog } from '../decide/name-dialog';
import { announce } from '../parts/announce';
import { Button } from '../parts/button';
import { ErrorNote } from '../parts/error-note';
import { Named } from '../parts/said';
import { hrefOf } from '../routes';
import { texts } from '../texts';
import { tryTexts } from '../texts/try';
import type { DraftProblems } from './request';
import type { Talk } from './talk';
import { emptyTalk, heard } from './talk';
import { Decision } from './question-line';
import { useQuestions } from './questions';
import { TalkLine } from './talk-line';

interface ChatProps {
  readonly id: string;
  /** Somebody has said something in it before this page was opened. */
  readonly isOld: boolean;
  readonly message: string;
  readonly onMessage: (message: string) => void;
  readonly request: { readonly request: MessageRequest; readonly problems: DraftProblems };
  readonly onStarted: () => void;
  readonly onAnew: () => void;
}

/** A conversation as it goes on. What asks a person is answered in it. */
export function Chat({ id, isOld, message, onMessage, request, onStarted, onAnew }: ChatProps): JSX.Element {
  // Each follows the log anew. 0: nobody has said anything.
  const [round, setRound] = useState(isOld ? 1 : 0);
  const isBegun = round > 0;
  const hasSaid = useRef(false);
  const [error, setError] = useState<unknown>();
  const [isSending, setSending] = useState(false);
  const talk = useTalk(id, round, (problem) => {
    // A link may name a conversation that begins with what is said now.
    const isNew = codeOf(problem) === 'run-unknown';
    if (isNew) setRound((before) => (hasSaid.current ? before + 1 : 0));
    else setError(problem);
  });
  const lines = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const asking = useQuestions(id, talk);
  // Its script comes before somebody is asked.
  useEffect(() => (isBegun ? Decision.ask() : undefined), [isBegun]);
  useAnswersAloud(talk);
  const stayAtEnd = (): void => {
    if (atEnd.current) lines.current?.scrollTo({ top: lines.current.scrollHeight });
  };
  useLayoutEffect(stayAtEnd, [talk, asking.chosen?.key]);
  const isAsking = talk.entries.some((entry) => entry.kind === 'question' && entry.isOpen);
  const hasProblems = Object.keys(request.problems).length > 0;
  const send = async (): Promise<void> => {
    const text = message.trim();
    if (text === '' || isSending || hasProblems) return;
    setSending(true);
    setError(undefined);
    try {
      await service.send(id, { ...request.request, message: text });
      onMessage('');
      atEnd.current = true;
      hasSaid.current = true;
      // It may have been found missing meanwhile.
      setRound((before) => Math.max(1, before));
      if (!isOld) onStarted();
    } catch (problem) {
      setError(problem);
    }
    setSending(false);
  };
  return (
    <div class="chat">
      <div
        ref={lines}
        class="chat-lines"
        role="log"
        aria-label={tryTexts.said}
        aria-live="off"
        tabIndex={0}
        onScroll={({ currentTarget }) => {
          atEnd.current = currentTarget.scrollHeight - currentTarget.scrollTop - currentTarget.clientHeight < 40;
        }}
      >
        {talk.entries.length === 0 && <p class="muted chat-empty">{isBegun ? texts.parts.loading : tryTexts.sayFirst}</p>}
        {talk.entries.map((entry) => (
          <TalkLine key={entry.key} entry={entry} asking={asking} onDrawn={stayAtEnd} />
        ))}
        {talk.isWorking && !isAsking && <p class="muted chat-working">{tryTexts.working}</p>}
      </div>
      {error !== undefined && <ErrorNote error={error} />}
      <form
        class="talk-composer"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <label class="unseen" htmlFor="say">
          {tryTexts.message}
        </label>
        <textarea
          id="say"
          rows={2}
          value={message}
          placeholder={tryTexts.message}
          disabled={talk.isEnded}
          onInput={({ currentTarget }) => onMessage(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            void send();
          }}
        />
        <div class="talk-composer-actions">
          {talk.isWorking && (
            <Button onClick={() => void service.stop(id, (claimed.peek() as { by?: string }).by).catch(setError)}>{tryTexts.stop}</Button>
          )}
          <Button kind="primary" type="submit" disabled={message.trim() === '' || isSending || talk.isEnded || hasProblems}>
            {tryTexts.send}
          </Button>
        </div>
      </form>
      <NameDialog />
      {isBegun && (
        <p class="chat-foot muted">
          <a href={hrefOf('runs', id)}>
            <Named isMono text={id} />
          </a>
          <button type="button" class="link" onClick={onAnew}>
            {tryTexts.anew}
          </button>
        </p>
      )}
    </div>
  );
}

/** What is seen of a conversation. Many events of one moment are drawn once. */
function useTalk(id: string, round: number, onError: (error: unknown) => void): Talk {
  const [talk, setTalk] = useState<Talk>(emptyTalk);
  useEffect(() => {
    if (round === 0) return undefined;
    const leaving = new AbortController();
    let [seen, frame] = [emptyTalk, 0];
    const onEvent = (event: Parameters<typeof heard>[1]): void => {
      seen = heard(seen, event);
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        setTalk(seen);
      });
    };
    followLog(id, { onEvent, signal: leaving.signal }).catch(onError);
    return () => {
      leaving.abort();
      cancelAnimationFrame(frame);
    };
  }, [id, round]);
  return talk;
}

/** Says an answer to whoever does not see the page when it is whole, and not letter by letter. */
function useAnswersAloud(talk: Talk): void {
  const last = talk.entries.filter((entry) => entry.kind === 'agent' && !entry.isOpen).at(-1);
  const question = talk.entries.filter((entry) => entry.kind === 'question' && entry.isOpen).at(-1);
  useEffect(() => {
    if (last?.kind === 'agent') announce(last.text.slice(0, 500));
  }, [last?.key]);
  useEffect(() => {
    if (question !== undefined) announce(tryTexts.asks);
  }, [question?.key]);
}
