import { signal } from '@preact/signals';
import type { JSX } from 'preact';

const said = signal('');

export function announce(text: string): void {
  // Screen readers stay silent when the text stays equal.
  said.value = said.peek() === text ? `${text}\u00a0` : text;
}

export function Announcer(): JSX.Element {
  return (
    <div class="unseen" role="status" aria-live="polite">
      {said}
    </div>
  );
}
