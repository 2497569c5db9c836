import { performance } from 'node:perf_hooks';

/** Milliseconds that only grow. */
export interface LoopClock {
  now(): number;
  /** How long the loop of this process has worked. A process that was stopped from outside has not. */
  worked(): number;
}

const processClock: LoopClock = {
  now: () => performance.now(),
  worked: () => performance.eventLoopUtilization().active,
};

/** A call of a tool that runs in this process. */
export interface WatchedCall {
  readonly tool: string;
  readonly address: string;
  readonly runId: string;
  /** So long a block, and the server takes the call for lost. */
  readonly silenceMs: number;
}

/** What blocked the process: one call for certain, or some call of those that ran. */
export interface Block<Call> {
  readonly calls: readonly Call[];
  readonly ms: number;
  /** It was measured in the code of the tool itself. */
  readonly isMeasured: boolean;
}

const tickMs = 500;
/** The last heartbeat lies before the block, and the next one comes a little after it. */
const share = 0.8;
/** Between two ticks many small things may add up to as much: that is a busy process, and no block. */
const leastMs = 2 * tickMs;

/**
 * Sees which code blocks the loop of this process for so long that the heartbeats of calls stop. What a tool does before it first waits is
 * measured around it. What it does later shows as a tick that comes late; then it is one of the calls that ran meanwhile. The next attempt can
 * begin before the late tick, so that each beginning and each end looks, too.
 */
export class LoopWatch<Call extends WatchedCall> {
  private readonly running = new Set<Call>();
  private tick: NodeJS.Timeout | undefined;
  private workedUntil = 0;

  constructor(
    private readonly onBlock: (block: Block<Call>) => void,
    private readonly clock: LoopClock = processClock,
  ) {}

  begin(call: Call): void {
    if (this.running.size === 0) {
      this.workedUntil = this.clock.worked();
      this.tick = setInterval(() => this.look(), tickMs);
      this.tick.unref();
    }
    this.running.add(call);
  }

  end(call: Call): void {
    this.look();
    this.running.delete(call);
    if (this.running.size === 0) clearInterval(this.tick);
  }

  /** Runs code of a call that gives back at its first wait. */
  measure<T>(call: Call, code: () => T): T {
    const begun = this.clock.now();
    try {
      return code();
    } finally {
      const ms = this.clock.now() - begun;
      if (isBlockFor(call, ms)) {
        this.workedUntil = this.clock.worked();
        this.onBlock({ calls: [call], ms, isMeasured: true });
      }
    }
  }

  /** Whether the loop has worked at one thing since it last came round. */
  look(): void {
    const worked = this.clock.worked();
    const ms = worked - this.workedUntil;
    this.workedUntil = worked;
    if ([...this.running].some((call) => isBlockFor(call, ms))) this.onBlock({ calls: [...this.running], ms, isMeasured: false });
  }
}

function isBlockFor({ silenceMs }: WatchedCall, ms: number): boolean {
  return ms >= Math.max(silenceMs * share, leastMs);
}
