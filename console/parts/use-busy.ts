import { useRef, useState } from 'preact/hooks';

/** Does one thing at a time: what is asked for while it is being done does nothing. */
export function useBusy(): readonly [boolean, (act: () => Promise<unknown>) => void] {
  const [isBusy, setBusy] = useState(false);
  const atWork = useRef(false);
  const start = (act: () => Promise<unknown>): void => {
    if (atWork.current) return;
    atWork.current = true;
    setBusy(true);
    void act().finally(() => {
      atWork.current = false;
      setBusy(false);
    });
  };
  return [isBusy, start];
}
