import { signal } from '@preact/signals';

/** The row whose decision takes the focus as soon as it is drawn, which is before the next key is pressed. */
export const focusWish = signal<string | undefined>(undefined);

export function focusDecision(key: string): void {
  focusWish.value = key;
}
