import { useLayoutEffect, useRef } from 'preact/hooks';

/** What keys do, by their names. */
export type KeyActions = Readonly<Record<string, () => void>>;

const moving = new Set(['j', 'k', 'ArrowDown', 'ArrowUp']);

/** Keys of a page. A field gets its own keys, but for Escape, and so does a dialog. */
export function useKeys(actions: KeyActions): void {
  const current = useRef(actions);
  current.current = actions;
  // A key is for the page that is shown when it is pressed. Other effects, and their ends, may wait until that is drawn.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      const target = event.target instanceof Element ? event.target : null;
      if (document.querySelector('dialog[open]') !== null) return;
      const isField = target?.matches('input:not([type=checkbox]):not([type=radio]), textarea, select') === true;
      if (isField && event.key !== 'Escape') return;
      // Enter on a button or a link is theirs.
      if (event.key === 'Enter' && target?.closest('button, summary, form, a:not(.row-link)') != null) return;
      const act = current.current[event.key];
      if (act === undefined) return;
      // A key that is held down moves on, and does nothing else twice: nobody decides about what they have not seen.
      if (event.repeat && !moving.has(event.key)) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}
