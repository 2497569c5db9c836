import { HoldfastError } from '../contract/errors';

interface Line {
  atWork: number;
  readonly waiting: Set<() => void>;
}

/** First come, first served. */
export class ToolTurns {
  private readonly lines = new Map<string, Line>();

  /** A call that is cancelled while waiting is not made. */
  async take<Result>(tool: string, concurrency: number | undefined, signal: AbortSignal, run: () => Promise<Result>): Promise<Result> {
    if (concurrency === undefined) return run();
    const line = this.lines.get(tool) ?? { atWork: 0, waiting: new Set() };
    this.lines.set(tool, line);
    if (line.atWork >= concurrency) await turnIn(line, signal);
    else line.atWork += 1;
    try {
      return await run();
    } finally {
      const [next] = line.waiting;
      // The next call takes over the place, so that no other call comes between.
      if (next === undefined) line.atWork -= 1;
      else next();
    }
  }
}

function turnIn(line: Line, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const next = (): void => {
      line.waiting.delete(next);
      resolve();
    };
    const leave = (): void => {
      if (line.waiting.delete(next)) reject(new HoldfastError('cancelled', 'The call was cancelled before its turn had come.'));
    };
    line.waiting.add(next);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  });
}
