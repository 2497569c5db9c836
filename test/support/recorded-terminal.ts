import type { Terminal } from '../../cli/terminal';
import { painter, writersTo } from '../../cli/terminal';

interface Recording {
  readonly live: boolean;
  readonly colored?: boolean;
  readonly typed?: string[];
}

export interface RecordedTerminal extends Terminal {
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
