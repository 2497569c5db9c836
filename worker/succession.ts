import { HoldfastError } from '../contract/errors';
import type { Deployment } from './deployment';

export type Routing = Pick<Deployment, 'standing' | 'polls' | 'makeCurrent' | 'replaceCurrent'>;

/**
 * New runs go to the current build. When the workers that brought it are gone, as after a deploy that was taken back, nobody would begin them: then the
 * newest build that is still served takes its place. Silence is counted by this process's own clock, since that of the server may differ.
 */
export class Succession {
  private readonly seen = new Map<string, { readonly poll: number; readonly silentMs: number }>();
  private lookedAt = -Infinity;

  constructor(
    private readonly routing: Routing,
    private own: string,
    /** More than three times as long as it takes from look to look. */
    private readonly unservedMs: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Another build is the own one from now on. */
  become(own: string): void {
    this.own = own;
    this.seen.clear();
  }

  /** Looks once; gives the problem when this build took the place of another. */
  async look(stillRunning: () => boolean): Promise<HoldfastError | undefined> {
    const standing = await this.routing.standing();
    const { current, replaced, builds, manager } = standing;
    if (current === this.own) this.seen.clear();
    // Without a current build somebody decided so, and a manager alone decides.
    if (current === this.own || current === undefined || manager !== undefined) return undefined;
    if (replaced === this.own) {
      // Somebody thought that nobody serves this build, such as after a time without a connection.
      return this.routing.makeCurrent(this.own, stillRunning);
    }
    const newer = builds.slice(0, Math.max(builds.indexOf(this.own), 0));
    const polls = await this.routing.polls();
    // All of them are looked at, so that all are watched from now on.
    const served = this.servedOf([current, ...newer.filter((build) => build !== current)], polls);
    if (served.length > 0 || !stillRunning()) return undefined;
    await this.routing.replaceCurrent(this.own, standing);
    return new HoldfastError(
      'build-unserved',
      `New runs went to build ${current}, which no worker has served for ${Math.round(this.unservedMs / 1000)} s. From now on they go to build ${this.own}, which this process serves.`,
    );
  }

  private servedOf(builds: readonly string[], polls: ReadonlyMap<string, number>): readonly string[] {
    const now = this.now();
    const elapsed = now - this.lookedAt;
    this.lookedAt = now;
    // Where nobody could look, as while the server was away, nobody can tell either.
    if (elapsed > this.unservedMs / 3) this.seen.clear();
    return builds.filter((build) => {
      const seen = this.seen.get(build);
      const poll = polls.get(build) ?? 0;
      const silentMs = seen === undefined || poll > seen.poll ? 0 : seen.silentMs + elapsed;
      this.seen.set(build, { poll: Math.max(poll, seen?.poll ?? 0), silentMs });
      return silentMs < this.unservedMs;
    });
  }
}
