import { signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

const wish = signal<string | undefined>(undefined);

/** The element takes the focus when drawn. */
export function focusRow(key: string): void {
  wish.value = `row ${key}`;
}

export function focusDecision(key: string): void {
  wish.value = `decision ${key}`;
}

/** A layout effect acts before the next key. An element that scrolls back must not take the focus again. */
export function useFocusWish(name: string, element: RefObject<HTMLElement | null>, options?: FocusOptions): void {
  const wished = wish.value;
  useLayoutEffect(() => {
    if (wished !== name) return;
    wish.value = undefined;
    element.current?.focus(options);
  }, [name, wished]);
}
