import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { CancelMode } from '../../contract/cancel';
import { cancelModes } from '../../contract/cancel';
import { service } from '../data/service';
import { Button } from '../parts/button';
import { Dialog } from '../parts/dialog';
import { ErrorNote } from '../parts/error-note';
import { toast } from '../parts/toast';
import { useBusy } from '../parts/use-busy';
import { texts } from '../texts';
import { runTexts } from '../texts/run';
import { byNow } from './by-now';

interface DialogOf {
  readonly id: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

interface EndDialogProps extends Omit<DialogOf, 'id'> {
  readonly words: { readonly title: string; readonly submit: string };
  readonly done: string;
  readonly isReady: boolean;
  readonly end: () => Promise<unknown>;
  readonly children: ComponentChildren;
}

/** Asks before a run ends, and stays open with what went wrong. */
function EndDialog({ words, done, isReady, end, onClose, onDone, children }: EndDialogProps): JSX.Element {
  const [error, setError] = useState<unknown>(undefined);
  const [isBusy, start] = useBusy();
  const submit = async (): Promise<void> => {
    if (!isReady) return;
    try {
      await end();
      toast(done, { kind: 'good' });
      onClose();
      onDone();
    } catch (failed) {
      setError(failed);
    }
  };
  return (
    <Dialog title={words.title} onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          start(submit);
        }}
      >
        {children}
        {error !== undefined && <ErrorNote error={error} />}
        <div class="actions">
          <Button onClick={onClose}>{texts.parts.close}</Button>
          <Button kind="danger" type="submit" disabled={!isReady || isBusy}>
            {words.submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

export function CancelDialog({ id, ...rest }: DialogOf): JSX.Element {
  const [mode, setMode] = useState<CancelMode>('now');
  const [reason, setReason] = useState('');
  const words = runTexts.cancel;
  const end = (): Promise<unknown> => service.cancel(id, { mode, ...byNow(), ...(reason.trim() === '' ? {} : { reason: reason.trim() }) });
  return (
    <EndDialog {...rest} words={words} done={runTexts.done.cancel} isReady end={end}>
      <label class="field">
        <span>{words.mode}</span>
        <select value={mode} onChange={({ currentTarget }) => setMode(cancelModes.find((one) => one === currentTarget.value) ?? 'now')}>
          {cancelModes.map((one) => (
            <option key={one} value={one}>
              {words.modes[one]}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>{words.reason}</span>
        <textarea rows={2} maxLength={1_000} value={reason} onInput={({ currentTarget }) => setReason(currentTarget.value)} />
        <small class="muted">{words.reasonHint}</small>
      </label>
      <p class="muted">{words.note}</p>
    </EndDialog>
  );
}

export function TerminateDialog({ id, ...rest }: DialogOf): JSX.Element {
  const [typed, setTyped] = useState('');
  const words = runTexts.terminate;
  return (
    <EndDialog {...rest} words={words} done={runTexts.done.terminate} isReady={typed.trim() === id} end={() => service.terminate(id)}>
      <p>{words.note}</p>
      <label class="field">
        <span>{words.confirm}</span>
        <code class="confirm-id">{id}</code>
        <input
          type="text"
          autocomplete="off"
          spellcheck={false}
          value={typed}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </label>
    </EndDialog>
  );
}

interface TextDialogProps {
  readonly title: string;
  readonly label: string;
  readonly value: string;
  readonly isLine?: boolean;
  readonly onClose: () => void;
  readonly onSave: (text: string) => Promise<unknown>;
}

export function TextDialog({ title, label, value, isLine = false, onClose, onSave }: TextDialogProps): JSX.Element {
  const [text, setText] = useState(value);
  const [isBusy, start] = useBusy();
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          start(() => onSave(text).then(onClose));
        }}
      >
        <label class="field">
          <span>{label}</span>
          {isLine ? (
            <input type="text" value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
          ) : (
            <textarea rows={5} value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
          )}
        </label>
        <div class="actions">
          <Button onClick={onClose}>{texts.parts.close}</Button>
          <Button kind="primary" type="submit" disabled={text.trim() === '' || isBusy}>
            {runTexts.composer.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
