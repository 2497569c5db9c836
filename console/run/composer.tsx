import { useState } from 'preact/hooks';
import type { QueuedMessage, SendMode } from '../../contract/conversations';
import { sendModes } from '../../contract/conversations';
import { textOf } from '../../contract/messages/messages';
import type { ShownRun } from '../../client/http/index';
import { byNow, may } from '../data/identity';
import { service } from '../data/service';
import { Button } from '../parts/button';
import { ErrorNote } from '../parts/error-note';
import { Select, MessageForm } from '../parts/fields';
import { lazy } from '../parts/lazy';
import { visibleText } from '../parts/plain-text';
import { Said } from '../parts/said';
import { Badge } from '../parts/status-badge';
import { useBusy } from '../parts/use-busy';
import { runTexts } from '../texts/run';
import type { ActionsProps } from './actions';
import { act } from './actions';

const TextDialog = lazy(async () => (await import('./dialogs')).TextDialog, <></>);
const words = runTexts.composer;

export function Composer({ view: { id, conversation }, onDone }: ActionsProps) {
  const { text, setText, mode, setMode, error, isBusy, send } = useMessage(id, onDone);
  if (conversation === undefined) return null;
  if (conversation.status === 'ended') return <p class="composer muted">{words.ended}</p>;
  return (
    <section class="composer" aria-label={words.label}>
      {conversation.queue.length > 0 && (
        <div class="queue">
          <h2>{words.queue}</h2>
          <ul>
            {conversation.queue.map((queued) => (
              <Queued key={queued.id} id={id} queued={queued} onDone={onDone} />
            ))}
          </ul>
        </div>
      )}
      {error !== undefined && <ErrorNote error={error} />}
      <MessageForm label={words.label} text={text} onText={setText} onSend={send} sendsAt={({ ctrlKey, metaKey }) => ctrlKey || metaKey}>
        <Button kind="primary" type="submit" needs="runs:start" disabled={text.trim() === '' || isBusy} title={words.hint}>
          {words.send}
        </Button>
      </MessageForm>
      <div class="composer-actions flow wrap">
        <Select label={words.mode} value={mode} options={sendModes.map((one) => [one, words.modes[one]])} onChoose={setMode} />
        <span class="spacer" />
        <ConversationActions id={id} conversation={conversation} onDone={onDone} />
      </div>
    </section>
  );
}

function useMessage(id: string, onDone: () => void) {
  const [text, setText] = useState('');
  const [mode, setMode] = useState<SendMode>('after-turn');
  const { isBusy, error, start } = useBusy();
  const send = async (): Promise<void> => {
    // A message with an id counts once, also after a lost answer.
    await service.send(id, { id: crypto.randomUUID(), message: text, mode, ...byNow() }).finally(onDone);
    setText('');
  };
  return { text, setText, mode, setMode, error, isBusy, send: () => may('runs:start') && text.trim() !== '' && start(send) };
}

interface ConversationActionsProps {
  readonly id: string;
  readonly conversation: NonNullable<ShownRun['conversation']>;
  readonly onDone: () => void;
}

function ConversationActions({ id, conversation: { status, paused, title }, onDone }: ConversationActionsProps) {
  const [isTitling, setTitling] = useState(false);
  const { isBusy, start } = useBusy();
  const { actions, done } = runTexts;
  const { by } = byNow();
  const button = (name: 'stop' | 'unpause' | 'pause' | 'end', doing: () => Promise<unknown>) => (
    <Button kind="quiet" needs="runs:control" disabled={isBusy} onClick={() => start(() => act(doing, done[name], onDone))}>
      {actions[name]}
    </Button>
  );
  return (
    <>
      {status === 'working' && button('stop', () => service.stop(id, by))}
      {paused ? button('unpause', () => service.unpause(id, by)) : button('pause', () => service.pause(id, by))}
      <Button kind="quiet" needs="runs:start" onClick={() => setTitling(true)}>
        {actions.rename}
      </Button>
      {button('end', () => service.end(id, { mode: 'after-turn', ...byNow() }))}
      {isTitling && (
        <TextDialog
          title={actions.rename}
          label={words.title}
          value={title ?? ''}
          onClose={() => setTitling(false)}
          onSave={(next) => act(() => service.rename(id, next, by), done.rename, onDone)}
        />
      )}
    </>
  );
}

interface QueuedProps {
  readonly id: string;
  readonly queued: QueuedMessage;
  readonly onDone: () => void;
}

function Queued({ id, queued, onDone }: QueuedProps) {
  const [isOpen, setOpen] = useState(false);
  const text = textOf(queued.message);
  const { changed, withdrawn } = runTexts.done;
  const change = (message: string): Promise<void> => act(() => service.change(id, queued.id, { message, ...byNow() }), changed, onDone);
  const withdraw = (): Promise<void> => act(() => service.withdraw(id, queued.id, byNow().by), withdrawn, onDone);
  return (
    <li class="flow wrap">
      <Badge>{words.modes[queued.mode]}</Badge>
      {queued.by !== undefined && (
        <strong>
          <bdi>{visibleText(queued.by)}</bdi>
        </strong>
      )}
      <Said text={text.length > 300 ? `${text.slice(0, 300)}…` : text} />
      <Button kind="quiet" needs="runs:start" onClick={() => setOpen(true)}>
        {words.change}
      </Button>
      <Button kind="quiet" needs="runs:start" onClick={() => void withdraw()}>
        {words.withdraw}
      </Button>
      {isOpen && (
        <TextDialog title={words.change} label={words.label} value={text} rows={5} onClose={() => setOpen(false)} onSave={change} />
      )}
    </li>
  );
}
