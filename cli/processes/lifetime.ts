import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../contract/errors';
import type { Logger } from '../../host/logger';
import { reportError } from '../report-error';
import type { Terminal } from '../terminal';

interface Opened {
  readonly name: string;
  readonly close: () => Promise<void> | void;
}

/** npm repeats the signal of the terminal: a second signal within this time is the same key. */
const sameKeyMs = 500;

export class Lifetime {
  private readonly opened: Opened[] = [];
  private closing = false;
  private signalledAt: number | undefined;
  private endsWithinMs: number | undefined;
  private end: (code: number) => void = () => undefined;
  private readonly ended = new Promise<number>((resolve) => (this.end = resolve));

  private constructor(
    readonly terminal: Terminal,
    private readonly logger: Logger,
  ) {}

  /** Closes in reverse order, and returns the exit code. */
  static async of(terminal: Terminal, logger: Logger, start: (lifetime: Lifetime) => Promise<void>): Promise<number> {
    const lifetime = new Lifetime(terminal, logger);
    const onSignal = (signal: NodeJS.Signals): void => lifetime.onSignal(signal);
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
    for (const signal of signals) process.on(signal, onSignal);
    start(lifetime).catch((error: unknown) => {
      if (lifetime.closing) return;
      reportError(error, terminal, process.env, logger.format);
      lifetime.end(1);
    });
    const code = await lifetime.ended;
    const { endsWithinMs } = lifetime;
    const patience = endsWithinMs === undefined ? [] : [delay(endsWithinMs, undefined, { ref: false })];
    await Promise.race([lifetime.closeAll(), ...patience]);
    return code;
  }

  async onEnd(name: string, close: Opened['close']): Promise<void> {
    if (this.closing) await close();
    else this.opened.push({ name, close });
  }

  /** `withinMs`: the longest wait for open parts. */
  fail(error: unknown, withinMs?: number): void {
    if (this.closing) return;
    this.endsWithinMs = withinMs;
    reportError(error, this.terminal, process.env, this.logger.format);
    this.end(1);
  }

  private onSignal(signal: NodeJS.Signals): void {
    if (this.signalledAt !== undefined && Date.now() - this.signalledAt < sameKeyMs) return;
    if (this.closing) process.exit(130);
    this.closing = true;
    this.signalledAt = Date.now();
    if (signal === 'SIGINT') this.terminal.write();
    this.terminal.write(`Stopping.${this.awaited}${signal === 'SIGINT' ? ' Ctrl-C again stops at once.' : ''}`);
    this.end(0);
  }

  private get awaited(): string {
    return this.opened.some(({ name }) => name === 'worker') ? ' Calls of models and tools that are at work are waited for.' : '';
  }

  private async closeAll(): Promise<void> {
    this.closing = true;
    for (const { name, close } of this.opened.reverse()) {
      try {
        await close();
        this.logger.debug(`Closed the ${name}.`);
      } catch (error) {
        this.logger.warn(`Closing the ${name} failed: ${messageOf(error)}`, { error });
      }
    }
  }
}
