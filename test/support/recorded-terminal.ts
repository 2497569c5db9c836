import type { Terminal } from '../../cli/terminal';
import { painter, writersTo } from '../../cli/terminal';

interface Recording {
  readonly live: boolean;
  readonly colored?: boolean;
  /** What somebody types who sits there. */
  readonly typed?: string[];
}

/** A terminal that nobody sits at, unless they type. */
export interface RecordedTerminal extends Terminal {
  /** All that was written, and in how many parts the lines came that came in parts. */
  readonly written: () => string;
  readonly parts: () => number;
}

export function recordedTerminal({ live, colored = false, typed }: Recording): RecordedTerminal {
  let text = '';
  let count = 0;
  const writers = writersTo(
    (more) => void (text += more),
    (more) => void (text += `error: ${more}`),
  );
  return {
    interactive: typed !== undefined,
    live,
    paint: painter(colored),
    ...writers,
    writePart(part) {
      writers.writePart(part);
      count += 1;
    },
    ask: async () => typed?.shift(),
    ifInterrupted: () => () => undefined,
    written: () => text,
    parts: () => count,
  };
}
