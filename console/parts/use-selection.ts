import { useRef, useState } from 'preact/hooks';

export interface Selection {
  readonly keys: ReadonlySet<string>;
  /** `isRange`: with all rows up to the last toggled row. */
  toggle(key: string, isRange?: boolean): void;
  set(keys: readonly string[]): void;
}

export function useSelection(allNow: () => readonly string[] = () => []): Selection {
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set());
  const anchor = useRef('');
  const toggle = (key: string, isRange = false): void => {
    const all = allNow();
    const [from, to] = [all.indexOf(anchor.current), all.indexOf(key)];
    const range = isRange && from >= 0 ? all.slice(Math.min(from, to), Math.max(from, to) + 1) : [key];
    const next = new Set(keys);
    for (const one of range)
      if (keys.has(key)) next.delete(one);
      else next.add(one);
    anchor.current = key;
    setKeys(next);
  };
  return { keys, toggle, set: (some) => setKeys(new Set(some)) };
}
