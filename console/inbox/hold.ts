import { useRef, useState } from 'preact/hooks';

const holdMs = 6_000;

/** Whether somebody is about to choose from the list: the pointer has just moved in it. */
export function useHold(): readonly [boolean, (isInside: boolean) => void] {
  const [isHeld, setHeld] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const hold = (isInside: boolean): void => {
    clearTimeout(timer.current);
    setHeld(isInside);
    if (isInside) timer.current = setTimeout(() => setHeld(false), holdMs);
  };
  return [isHeld, hold];
}
