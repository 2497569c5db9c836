import { useEffect, useState } from 'preact/hooks';

const narrow = matchMedia('(max-width: 900px)');

/** Whether a row has no room in one line. */
export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(narrow.matches);
  useEffect(() => {
    const look = (): void => setNarrow(narrow.matches);
    narrow.addEventListener('change', look);
    return () => narrow.removeEventListener('change', look);
  }, []);
  return isNarrow;
}
