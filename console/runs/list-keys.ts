import { useLayoutEffect, useRef } from 'preact/hooks';
import { goTo } from '../routes';
import type { RunsItem } from './items';

interface ListKeys {
  readonly items: readonly RunsItem[];
  readonly current: string | undefined;
  readonly setCurrent: (key: string | undefined) => void;
  readonly onSelect: (id: string) => void;
  readonly onToggle: (id: string) => void;
  readonly onLeave: () => void;
  /** Somebody goes on behind the last one. */
  readonly onEnd: () => void;
}

/** j and k move, Enter opens, x selects, o unfolds, / searches, Escape leaves. */
export function useListKeys(keys: ListKeys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useLayoutEffect(() => {
    const hear = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector('dialog[open]') !== null)
        return;
      const { items, current, setCurrent, onSelect, onToggle, onLeave, onEnd } = latest.current;
      const runs = items.filter((item) => item.kind === 'run');
      const at = runs.findIndex(({ key }) => key === current);
      const isOnControl = event.target instanceof Element && event.target.closest('a, button, input') !== null;
      const move = (to: number): void => {
        if (to >= runs.length) onEnd();
        setCurrent(runs[Math.max(0, Math.min(runs.length - 1, to))]?.key);
      };
      if (event.key === 'j' || event.key === 'ArrowDown') move(at + 1);
      else if (event.key === 'k' || event.key === 'ArrowUp') move(at - 1);
      else if (event.key === 'x' && current !== undefined && runs[at]?.depth === 0) onSelect(current);
      else if (event.key === 'o' && current !== undefined) onToggle(current);
      else if (event.key === 'Enter' && current !== undefined && !isOnControl) goTo('runs', current);
      else if (event.key === 'Escape') onLeave();
      else if (event.key === '/') document.getElementById('filter-id')?.focus();
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', hear);
    return () => document.removeEventListener('keydown', hear);
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return target.type !== 'checkbox';
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
