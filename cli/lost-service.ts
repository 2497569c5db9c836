import { codeOf } from '../contract/errors';
import type { Terminal } from './terminal';

export const patienceMs = 60_000;

/** A proxy may break every stream at once although the service answers. */
const steadyMs = 5_000;

export class LostService {
  private lostAt: number | undefined;
  private upAt: number | undefined;

  constructor(
    private readonly terminal: Terminal,
    private readonly again: string,
    private readonly ms = patienceMs,
    private wasThere = true,
  ) {}

  get isLost(): boolean {
    return this.lostAt !== undefined;
  }

  isUp(): void {
    this.wasThere = true;
    this.upAt ??= Date.now();
  }

  isBack(): void {
    this.isUp();
    this.lostAt = undefined;
  }

  /** Throws other errors, and the error of a service that was lost for too long. */
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
