import { useRef, useState } from 'preact/hooks';

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
