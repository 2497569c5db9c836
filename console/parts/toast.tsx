import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { texts } from '../texts';
import { announce } from './announce';
import { Icon } from './icon';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: 'info' | 'good' | 'bad';
  readonly action?: { readonly label: string; readonly act: () => void; readonly shortcut?: string };
}

const toasts = signal<readonly Toast[]>([]);
let last = 0;

interface ToastOptions {
  readonly kind?: Toast['kind'];
  readonly action?: Toast['action'];
  /** Default 6 s. 0: until somebody closes it. */
  readonly ms?: number;
}

/** Shows a short text for a moment. Returns what takes it away. */
export function toast(text: string, { kind = 'info', action, ms = 6_000 }: ToastOptions = {}): () => void {
  const id = ++last;
  const close = (): void => void (toasts.value = toasts.peek().filter((one) => one.id !== id));
  toasts.value = [...toasts.peek().slice(-3), { id, text, kind, ...(action === undefined ? {} : { action }) }];
  announce(text);
  if (ms > 0) setTimeout(close, ms);
  return close;
}

export function Toasts(): JSX.Element {
  return (
    <section class="toasts" aria-label={texts.parts.notices}>
      {toasts.value.map(({ id, text, kind, action }) => (
        <div key={id} class={`toast ${kind}`}>
          <span>{text}</span>
          {action !== undefined && (
            <button
              type="button"
              class="button quiet"
              onClick={() => {
                action.act();
                toasts.value = toasts.peek().filter((one) => one.id !== id);
              }}
            >
              {action.label}
              {action.shortcut !== undefined && <kbd aria-hidden="true">{action.shortcut}</kbd>}
            </button>
          )}
          <button
            type="button"
            class="icon-button"
            aria-label={texts.parts.dismiss}
            onClick={() => (toasts.value = toasts.peek().filter((one) => one.id !== id))}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
    </section>
  );
}
