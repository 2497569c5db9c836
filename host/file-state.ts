import { statSync } from 'node:fs';

/** File systems may round times to two seconds, which hides a second change. */
const timesMs = 2_500;

/** Changes with every change of a file, since no program can set `ctime`. Undefined: the file has just changed. */
export function fileState(path: string, now: number): string | undefined {
  const { ino, size, ctimeMs, mtimeMs } = statSync(path);
  return now - Math.max(ctimeMs, mtimeMs) < timesMs ? undefined : `${ino} ${size} ${ctimeMs} ${mtimeMs}`;
}
