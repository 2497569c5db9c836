import { statSync } from 'node:fs';

/** File systems may note times by the second or two: what changes once more within that may not show. */
const timesMs = 2_500;

/**
 * What the operating system says of a file, in a text that changes with every change of the file: nobody can set the time of its last change of any kind.
 * Undefined for a file that has changed a moment ago.
 */
export function fileState(path: string, now: number): string | undefined {
  const { ino, size, ctimeMs, mtimeMs } = statSync(path);
  return now - Math.max(ctimeMs, mtimeMs) < timesMs ? undefined : `${ino} ${size} ${ctimeMs} ${mtimeMs}`;
}
