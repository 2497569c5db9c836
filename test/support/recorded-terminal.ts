import type { Terminal } from '../../cli/terminal';
import { painter } from '../../cli/terminal';

/** A terminal that nobody sits at. */
export interface RecordedTerminal extends Terminal {
  /** All that was written, and in how many parts the lines came that came in parts. */
  readonly written: () => string;
  readonly parts: () => number;
}

export function recordedTerminal({ live }: { readonly live: boolean }): RecordedTerminal {
  let text = '';
  let count = 0;
  return {
    interactive: false,
    live,
    paint: painter(false),
    write: (line = '') => void (text += `${line}\n`),
    writePart(part) {
      text += part;
      count += 1;
    },
    writeError: (line) => void (text += `error: ${line}\n`),
    ask: async () => undefined,
    ifInterrupted: () => () => undefined,
    written: () => text,
    parts: () => count,
  };
}
