import { statSync } from 'node:fs';

/** A file system may round times to two seconds, which hides a second change within the time. */
const timesMs = 2_500;

/** A text that changes with every change of a file: no program can set the time of the last change. Undefined: the file was just changed. */
export function fileState(path: string, now: number): string | undefined {
  const { ino, size, ctimeMs, mtimeMs } = statSync(path);
  return now - Math.max(ctimeMs, mtimeMs) < timesMs ? undefined : `${ino} ${size} ${ctimeMs} ${mtimeMs}`;
}
