import { createHash } from 'node:crypto';
import { readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { privateFile } from '../../host/private-files';

/**
 * Local activities that were lost with their process. The server does not count them: process after process would make one again that ends its process.
 * So each leaves a mark in a directory while it runs.
 */
export class CallMarks {
  constructor(private readonly directory: string) {}

  /** Runs a call, unless `most` processes have ended in it. */
  async during<T>(key: string, most: number, run: () => Promise<T>, refuse: (lost: number) => T): Promise<T> {
    const mark = join(this.directory, `begun-${createHash('sha256').update(key).digest('hex').slice(0, 32)}`);
    const lost = leave(mark);
    try {
      return lost >= most ? refuse(lost) : await run();
    } finally {
      remove(mark);
    }
  }
}

/** Returns how many times the mark was left and not removed. */
function leave(mark: string): number {
  try {
    writeFileSync(mark, '1', { flag: 'wx', mode: privateFile });
    return 0;
  } catch (error) {
    // Where nothing can be written, nothing is counted.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return 0;
  }
  const lost = Number(readFileSync(mark, 'utf8')) || 1;
  writeFileSync(mark, String(lost + 1));
  return lost;
}

/** Each short call does so: `rmSync` takes three times as long. */
function remove(mark: string): void {
  try {
    unlinkSync(mark);
  } catch {
    // An earlier attempt that still ran has removed it.
  }
}
