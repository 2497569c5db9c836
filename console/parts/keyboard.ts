import { useLayoutEffect, useRef } from 'preact/hooks';

/** `false` leaves the key to the browser. */
export type KeyActions = Readonly<Record<string, () => void | false>>;

export function movingKeys(move: (step: 1 | -1) => void): KeyActions {
  return { j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1) };
}

const moving = new Set(Object.keys(movingKeys(() => undefined)));

/** In a field only Escape acts, and in a dialog none. */
export function useKeys(actions: KeyActions): void {
  const current = useRef(actions);
  current.current = actions;
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      const target = event.target instanceof Element ? event.target : null;
      if (document.querySelector('dialog[open]') !== null) return;
      const isField = target?.matches('input:not([type=checkbox]):not([type=radio]), textarea, select') === true;
      if (isField && event.key !== 'Escape') return;
      if (event.key === 'Enter' && target?.closest('button, summary, form, a:not(.row-link)') != null) return;
      const act = current.current[event.key];
      if (act === undefined) return;
      // A held key only moves: a person must not decide about an unseen question.
      if (event.repeat && !moving.has(event.key)) return;
      if (act() !== false) event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}
