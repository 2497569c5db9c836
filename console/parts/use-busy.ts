import { useRef, useState } from 'preact/hooks';

/** One act at a time. `error`: of the last act. */
export function useBusy() {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const atWork = useRef(false);
  const start = (act: () => Promise<unknown>): void => {
    if (atWork.current) return;
    atWork.current = true;
    setBusy(true);
    setError(undefined);
    void act()
      .catch(setError)
      .finally(() => {
        atWork.current = false;
        setBusy(false);
      });
  };
  return { isBusy, error, setError, start };
}
