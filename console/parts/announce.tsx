import { signal } from '@preact/signals';
import type { JSX } from 'preact';

const said = signal('');

/** Says something to whoever does not see the page. */
export function announce(text: string): void {
  // The same text twice is said twice.
  said.value = said.peek() === text ? `${text}\u00a0` : text;
}

export function Announcer(): JSX.Element {
  return (
    <div class="unseen" role="status" aria-live="polite">
      {said}
    </div>
  );
}
