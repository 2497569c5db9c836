import type { SdkThread } from '../sdk-internals';
import { isStockSdk, newThread } from '../sdk-internals';

let spare: SdkThread | undefined;

/** A thread loads modules for a fifth of a second before it can take a bundle. One that is made now does so beside whatever comes before its bundle. */
export function prepareThread(): void {
  if (spare !== undefined || isStockSdk()) return;
  const made = newThread(false);
  const forget = (): void => {
    if (spare === made) spare = undefined;
  };
  // Whoever takes it hears of its end. Nobody needs one that ends before.
  made.thread.on('error', forget);
  made.thread.once('exit', forget);
  made.thread.unref();
  spare = made;
}

/** Ends what was prepared and is not needed. */
export async function dropThread(): Promise<void> {
  const made = spare;
  spare = undefined;
  await made?.thread.terminate();
}

/** The prepared thread, or a new one. */
export function takeThread(stackTraces: boolean): SdkThread {
  if (spare === undefined || stackTraces) return newThread(stackTraces);
  const made = spare;
  spare = undefined;
  made.thread.removeAllListeners();
  made.thread.ref();
  return made;
}
