import { readFileSync } from 'node:fs';

/** The last lines that a server wrote, for messages about its end. */
export function endOfLog(logFile: string): string {
  try {
    return readFileSync(logFile, 'utf8').trim().slice(-1_000);
  } catch {
    return '';
  }
}
