import { codeOf } from '../contract/errors';
import type { Terminal } from './terminal';

/** A service that restarts is back by then. */
export const patienceMs = 60_000;

/** A stream that lasted so long was one. A proxy may break each at once, though the service answers. */
const steadyMs = 5_000;

/** How long a command that follows a run waits for a service that is gone. It says so once. */
export class LostService {
  private lostAt: number | undefined;
  private upAt: number | undefined;

  constructor(
    private readonly terminal: Terminal,
    /** How to follow the run again. */
    private readonly again: string,
    private readonly ms = patienceMs,
    /** Whether it has answered at all. One that never did is not gone. */
    private wasThere = true,
  ) {}

  get isLost(): boolean {
    return this.lostAt !== undefined;
  }

  /** It answers. */
  isUp(): void {
    this.wasThere = true;
    this.upAt ??= Date.now();
  }

  /** It streams. */
  isBack(): void {
    this.isUp();
    this.lostAt = undefined;
  }

  /** Throws the error unless it says that the service is gone, and when that was too long ago. */
  mayReturn(error: unknown): void {
    if (codeOf(error) !== 'service-unreachable' || !this.wasThere) throw error;
    const { paint } = this.terminal;
    if (this.upAt !== undefined && Date.now() - this.upAt >= steadyMs) this.lostAt = undefined;
    this.upAt = undefined;
    if (this.lostAt === undefined) {
      this.lostAt = Date.now();
      this.terminal.writeError(
        paint.dim(`The service is gone; waiting up to ${this.ms / 1000} s for it. The run is kept, and goes on as soon as a worker runs.`),
      );
    } else if (Date.now() - this.lostAt > this.ms) {
      this.terminal.writeError(paint.dim(`When the service is back, follow the run with: ${this.again}`));
      throw error;
    }
  }
}
