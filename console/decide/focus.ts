import { signal } from '@preact/signals';

/** The row takes the focus when drawn, before the next key. */
export const focusWish = signal<string | undefined>(undefined);

export function focusDecision(key: string): void {
  focusWish.value = key;
}
