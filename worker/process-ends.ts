type Listener = (code: number) => void;

const listeners = new Set<Listener>();
const tellAll = (code: number): void => {
  for (const listener of listeners) listener(code);
};

/** Hears of the end of this process, until the returned function is called. All workers share one listener: Node warns of more than ten. */
export function whenProcessEnds(listener: Listener): () => void {
  if (listeners.size === 0) process.on('exit', tellAll);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) process.off('exit', tellAll);
  };
}
