import { monitorEventLoopDelay } from 'node:perf_hooks';
import { HoldfastError } from '../../contract/errors';
import { runIdOf } from '../../contract/names';

export interface CallAtWork {
  readonly tool: string;
  readonly workflowId: string;
  readonly address: string;
}

export interface LoopGauge {
  now(): number;
  cpu(): number;
  longestBlock(): number;
  reset(): void;
  close(): void;
}

const lookMs = 500;
const mostNamed = 5;

export class LoopWatch {
  /** Ended calls stay until the next look: a call that blocks the loop may end before a timer can run. */
  private readonly calls = new Map<CallAtWork, number>();
  private readonly timer: NodeJS.Timeout;
  private cpuBefore: number;

  constructor(
    private readonly report: (problem: HoldfastError) => void,
    /** Half the time after which the server gives a silent call up. */
    private readonly limitMs = 5000,
    private readonly gauge = processGauge(),
  ) {
    this.cpuBefore = gauge.cpu();
    // The timer of the gauge is due in the same turn and must run first.
    this.timer = setInterval(() => setImmediate(() => this.look()), lookMs);
    this.timer.unref();
  }

  async during<T>(call: CallAtWork, run: () => Promise<T>): Promise<T> {
    this.calls.set(call, Infinity);
    try {
      return await run();
    } finally {
      this.calls.set(call, this.gauge.now());
    }
  }

  /** A stopped or starved process used no processor time: no tool is to blame. */
  look(): void {
    const cpuMs = this.gauge.cpu() - this.cpuBefore;
    this.cpuBefore += cpuMs;
    const blockMs = this.gauge.longestBlock();
    const begin = this.gauge.now() - blockMs;
    const atWork = [...this.calls].filter(([, end]) => end >= begin).map(([call]) => call);
    for (const [call, end] of this.calls) if (end !== Infinity) this.calls.delete(call);
    if (blockMs < this.limitMs) return;
    this.gauge.reset();
    if (cpuMs >= this.limitMs && atWork.length > 0) this.report(new HoldfastError('tool-failed', blockedBy(atWork, blockMs)));
  }

  close(): void {
    clearInterval(this.timer);
    this.gauge.close();
  }
}

function blockedBy(calls: readonly CallAtWork[], ms: number): string {
  const all = [...new Set(calls.map(({ tool, address, workflowId }) => `'${tool}' (${address} of run "${runIdOf(workflowId)}")`))];
  const named = all.slice(0, mostNamed);
  const more = all.length > mostNamed ? ` and ${all.length - mostNamed} more` : '';
  return `The event loop of this process stood still for ${Math.round(ms / 100) / 10} s. At work: ${named.join(', ')}${more}. No heartbeat and no other call went on meanwhile. Let the tool wait instead, or do such work in a child process or a worker thread.`;
}

function processGauge(): LoopGauge {
  const delay = monitorEventLoopDelay({ resolution: lookMs });
  delay.enable();
  return {
    now: () => performance.now(),
    cpu: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    },
    longestBlock: () => delay.max / 1e6,
    reset: () => delay.reset(),
    close: () => void delay.disable(),
  };
}
