import { signal } from '@preact/signals';

/** The time, for what is shown as relative to it. */
export const now = signal(Date.now());

setInterval(() => {
  if (document.visibilityState === 'visible') now.value = Date.now();
}, 1_000);
