import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { codeOf } from '../../contract/errors';
import { followLog } from '../data/follow-log';
import { byNow, may } from '../data/identity';
import { service } from '../data/service';
import { announce } from '../parts/toast';
import { Button } from '../parts/button';
import { ErrorNote } from '../parts/error-note';
import { MessageForm } from '../parts/fields';
import { Named } from '../parts/said';
import { hrefOf } from '../routes';
import { useBusy } from '../parts/use-busy';
import { texts } from '../texts';
import { tryTexts } from '../texts/try';
import { useQuestions } from './questions';
import type { messageOf } from './request';
import type { Talk } from './talk';
import { emptyTalk, heard } from './talk';
import { Decision, TalkLine } from './talk-line';

interface ChatProps {
  readonly id: string;
  readonly isOld: boolean;
  readonly message: string;
  readonly onMessage: (message: string) => void;
  readonly said: ReturnType<typeof messageOf>;
  readonly onStarted: () => void;
  readonly onAnew: () => void;
}

export function Chat(props: ChatProps) {
  const { id, onAnew } = props;
  const chat = useChat(props);
  return (
    <div class="chat grow stack">
      <ChatLines id={id} chat={chat} />
      {chat.error !== undefined && <ErrorNote error={chat.error} />}
      <ChatForm {...props} chat={chat} />
      {chat.isBegun && (
        <p class="chat-foot split flow wrap muted">
          <a href={hrefOf('runs', id)}>
            <Named isMono text={id} />
          </a>
          <button type="button" class="link bare" onClick={onAnew}>
            {tryTexts.anew}
          </button>
        </p>
      )}
    </div>
  );
}

type ChatState = ReturnType<typeof useChat>;

function useChat({ id, isOld, message, onMessage, said, onStarted }: ChatProps) {
  // Each round follows the log again. 0: no message yet.
  const [round, setRound] = useState(isOld ? 1 : 0);
  const hasSaid = useRef(false);
  const atEnd = useRef(true);
  const { isBusy, error, setError, start } = useBusy();
  const talk = useTalk(id, round, (problem) => {
    // A link may name a conversation that begins with the next message.
    if (codeOf(problem) === 'run-unknown') setRound((before) => (hasSaid.current ? before + 1 : 0));
    else setError(problem);
  });
  const send = async (): Promise<void> => {
    await service.send(id, { ...said.request, message: message.trim() });
    onMessage('');
    atEnd.current = true;
    hasSaid.current = true;
    // The round may be 0 again, if the log was missing meanwhile.
    setRound((before) => Math.max(1, before));
    if (!isOld) onStarted();
  };
  const canSend = may('runs:start') && message.trim() !== '' && !isBusy && !talk.isEnded && Object.keys(said.problems).length === 0;
  const stop = (): void => void service.stop(id, byNow().by).catch(setError);
  return { talk, isBegun: round > 0, error, canSend, send: () => canSend && start(send), stop, atEnd };
}

function ChatLines({ id, chat: { talk, isBegun, atEnd } }: { readonly id: string; readonly chat: ChatState }) {
  const lines = useRef<HTMLDivElement>(null);
  const asking = useQuestions(id, talk);
  useEffect(() => (isBegun ? void Decision.ask() : undefined), [isBegun]);
  useAnswersAloud(talk);
  const stayAtEnd = (): void => {
    if (atEnd.current) lines.current?.scrollTo({ top: lines.current.scrollHeight });
  };
  useLayoutEffect(stayAtEnd, [talk, asking.chosen?.key]);
  const isAsking = talk.entries.some((entry) => entry.kind === 'question' && entry.isOpen);
  return (
    <div
      ref={lines}
      class="chat-lines grow stack"
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
      {talk.isWorking && !isAsking && <p class="muted">{tryTexts.working}</p>}
    </div>
  );
}

function ChatForm({ message, onMessage, chat }: ChatProps & { readonly chat: ChatState }) {
  const { talk, canSend, send, stop } = chat;
  return (
    <MessageForm
      id="say"
      label={tryTexts.message}
      text={message}
      onText={onMessage}
      onSend={send}
      sendsAt={({ shiftKey, isComposing }) => !shiftKey && !isComposing}
      isDisabled={talk.isEnded}
    >
      <div class="stack">
        {talk.isWorking && (
          <Button needs="runs:control" onClick={stop}>
            {tryTexts.stop}
          </Button>
        )}
        <Button kind="primary" type="submit" needs="runs:start" disabled={!canSend}>
          {tryTexts.send}
        </Button>
      </div>
    </MessageForm>
  );
}

/** Draws many events of a moment once. */
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

/** Screen readers hear whole answers instead of letters. */
function useAnswersAloud({ entries }: Talk): void {
  const last = entries.findLast((entry) => entry.kind === 'agent' && !entry.isOpen);
  const question = entries.findLast((entry) => entry.kind === 'question' && entry.isOpen);
  useEffect(() => {
    if (last?.kind === 'agent') announce(last.text.slice(0, 500));
  }, [last?.key]);
  useEffect(() => {
    if (question !== undefined) announce(tryTexts.asks);
  }, [question?.key]);
}
