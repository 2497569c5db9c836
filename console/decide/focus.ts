import { signal } from '@preact/signals';

/** The row whose decision takes the focus when the decision is drawn, before the next key is pressed. */
export const focusWish = signal<string | undefined>(undefined);

export function focusDecision(key: string): void {
  focusWish.value = key;
}
