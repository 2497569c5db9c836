import { signal } from '@preact/signals';

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
