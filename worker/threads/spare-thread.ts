import type { SdkThread } from '../sdk-internals';
import { fitsSmallHeap, isStockSdk, newThread } from '../sdk-internals';

let spare: SdkThread | undefined;

/** A thread takes a fifth of a second to load its modules, beside other work. */
export function prepareThread(cachedRuns = Infinity): void {
  const isSmall = fitsSmallHeap(cachedRuns);
  if (spare?.hasSmallHeap === isSmall || isStockSdk()) return;
  void dropThread();
  const made = newThread(false, isSmall);
  const forget = (): void => {
    if (spare === made) spare = undefined;
  };
  // The taker of the thread handles its end.
  made.thread.on('error', forget);
  made.thread.once('exit', forget);
  made.thread.unref();
  spare = made;
}

export async function dropThread(): Promise<void> {
  const made = spare;
  spare = undefined;
  await made?.thread.terminate();
}

export function takeThread(stackTraces: boolean, cachedRuns = Infinity): SdkThread {
  const isSmall = fitsSmallHeap(cachedRuns);
  if (spare === undefined || stackTraces) return newThread(stackTraces, isSmall);
  const made = spare;
  if (made.hasSmallHeap !== isSmall) {
    void dropThread();
    return newThread(false, isSmall);
  }
  spare = undefined;
  made.thread.removeAllListeners();
  made.thread.ref();
  return made;
}
