import { signal } from '@preact/signals';
import { texts } from '../texts';
import { Button, IconButton } from './button';

interface ToastOptions {
  readonly kind?: 'good' | 'bad';
  readonly action?: { readonly label: string; readonly act: () => void; readonly shortcut?: string };
  readonly ms?: number;
}

interface Toast extends Omit<ToastOptions, 'ms'> {
  readonly id: number;
  readonly text: string;
}

const toasts = signal<readonly Toast[]>([]);
let last = 0;

export function toast(text: string, { ms = 6_000, ...options }: ToastOptions = {}): () => void {
  const id = ++last;
  toasts.value = [...toasts.peek().slice(-3), { ...options, id, text }];
  announce(text);
  setTimeout(() => close(id), ms);
  return () => close(id);
}

function close(id: number): void {
  toasts.value = toasts.peek().filter((one) => one.id !== id);
}

export function Toasts() {
  return (
    <section class="toasts stack" aria-label={texts.parts.notices}>
      {toasts.value.map(({ id, text, kind = 'info', action }) => (
        <div key={id} class={`toast panel flow ${kind}`}>
          <span class="grow breaks">{text}</span>
          {action !== undefined && (
            <Button
              kind="quiet"
              {...(action.shortcut === undefined ? {} : { shortcut: action.shortcut })}
              onClick={() => {
                action.act();
                close(id);
              }}
            >
              {action.label}
            </Button>
          )}
          <IconButton label={texts.parts.dismiss} icon="close" onClick={() => close(id)} />
        </div>
      ))}
    </section>
  );
}

const said = signal('');

export function announce(text: string): void {
  // Screen readers stay silent when the text stays equal.
  said.value = said.peek() === text ? `${text}\u00a0` : text;
}

export function Announcer() {
  return (
    <div class="unseen" role="status" aria-live="polite">
      {said}
    </div>
  );
}
