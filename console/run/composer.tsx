import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { QueuedMessage, SendMode } from '../../contract/conversations';
import { sendModes } from '../../contract/conversations';
import { textOf } from '../../contract/messages/messages';
import type { ShownRun } from '../../http/index';
import { claimed } from '../data/identity';
import { service } from '../data/service';
import { Button } from '../parts/button';
import { ErrorNote } from '../parts/error-note';
import { lazy } from '../parts/lazy';
import { visibleText } from '../parts/plain-text';
import { Said } from '../parts/said';
import { Badge } from '../parts/status-badge';
import { runTexts } from '../texts/run';
import { useBusy } from '../parts/use-busy';
import { act } from './actions';
import { byNow } from './by-now';

const TextDialog = lazy(async () => (await import('./dialogs')).TextDialog, <></>);

interface ComposerProps {
  readonly view: ShownRun;
  readonly onDone: () => void;
}

/** Where somebody writes to a conversation, with what waits for its turn. */
export function Composer({ view, onDone }: ComposerProps): JSX.Element | null {
  const { id, conversation } = view;
  const [text, setText] = useState('');
  const [mode, setMode] = useState<SendMode>('after-turn');
  const [error, setError] = useState<unknown>(undefined);
  const [isSending, setSending] = useState(false);
  const [isTitling, setTitling] = useState(false);
  const [isBusy, start] = useBusy();
  if (conversation === undefined) return null;
  const { queue, paused, status } = conversation;
  const words = runTexts.composer;
  const { actions, done } = runTexts;
  if (status === 'ended') return <p class="composer muted">{words.ended}</p>;
  const send = async (): Promise<void> => {
    if (text.trim() === '' || isSending) return;
    setSending(true);
    const by = (claimed.value as { readonly by?: string }).by;
    try {
      // Its id makes it count once, also when the answer is lost on the way.
      await service.send(id, { id: crypto.randomUUID(), message: text, mode, ...(by === undefined ? {} : { by }) });
      setText('');
      setError(undefined);
    } catch (failed) {
      setError(failed);
    }
    setSending(false);
    onDone();
  };
  const button = (label: string, doing: () => Promise<unknown>, told: string): JSX.Element => (
    <Button kind="quiet" disabled={isBusy} onClick={() => start(() => act(doing, told, onDone))}>
      {label}
    </Button>
  );
  return (
    <section class="composer" aria-label={words.label}>
      {queue.length > 0 && (
        <div class="queue">
          <h2>{words.queue}</h2>
          <ul>
            {queue.map((queued) => (
              <Queued key={queued.id} id={id} queued={queued} onDone={onDone} />
            ))}
          </ul>
        </div>
      )}
      {error !== undefined && <ErrorNote error={error} />}
      <form
        class="composer-form"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <textarea
          rows={2}
          aria-label={words.label}
          placeholder={words.label}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            void send();
          }}
        />
        <Button kind="primary" type="submit" disabled={text.trim() === '' || isSending} title={words.hint}>
          {words.send}
        </Button>
      </form>
      <div class="composer-actions">
        <label>
          <span class="unseen">{words.mode}</span>
          <select
            title={words.mode}
            value={mode}
            onChange={({ currentTarget }) => setMode(sendModes.find((one) => one === currentTarget.value) ?? 'after-turn')}
          >
            {sendModes.map((one) => (
              <option key={one} value={one}>
                {words.modes[one]}
              </option>
            ))}
          </select>
        </label>
        <span class="spacer" />
        {status === 'working' && button(actions.stop, () => service.stop(id, byNow().by), done.stop)}
        {paused
          ? button(actions.unpause, () => service.unpause(id, byNow().by), done.unpause)
          : button(actions.pause, () => service.pause(id, byNow().by), done.pause)}
        <Button kind="quiet" onClick={() => setTitling(true)}>
          {actions.rename}
        </Button>
        {button(actions.end, () => service.end(id, { mode: 'after-turn', ...byNow() }), done.end)}
      </div>
      {isTitling && (
        <TextDialog
          title={actions.rename}
          label={words.title}
          value={conversation.title ?? ''}
          isLine
          onClose={() => setTitling(false)}
          onSave={(title) => act(() => service.rename(id, title, byNow().by), done.rename, onDone)}
        />
      )}
    </section>
  );
}

function Queued({ id, queued, onDone }: { readonly id: string; readonly queued: QueuedMessage; readonly onDone: () => void }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const { done, composer } = runTexts;
  const text = textOf(queued.message);
  return (
    <li>
      <Badge>{composer.modes[queued.mode]}</Badge>
      {queued.by !== undefined && (
        <strong>
          <bdi>{visibleText(queued.by)}</bdi>
        </strong>
      )}
      <Said text={text.length > 300 ? `${text.slice(0, 300)}…` : text} />
      <Button kind="quiet" onClick={() => setOpen(true)}>
        {composer.change}
      </Button>
      <Button kind="quiet" onClick={() => void act(() => service.withdraw(id, queued.id, byNow().by), done.withdrawn, onDone)}>
        {composer.withdraw}
      </Button>
      {isOpen && (
        <TextDialog
          title={composer.change}
          label={composer.label}
          value={text}
          onClose={() => setOpen(false)}
          onSave={(message) => act(() => service.change(id, queued.id, { message, ...byNow() }), done.changed, onDone)}
        />
      )}
    </li>
  );
}
