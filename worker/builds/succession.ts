import { HoldfastError } from '../../contract/errors';
import type { Deployment } from './deployment';

export type Routing = Pick<Deployment, 'standing' | 'polls' | 'makeCurrent' | 'replaceCurrent'>;

/**
 * If the workers of the current build are gone, as after a withdrawn deploy, the newest served build takes its place. Silence is measured
 * by this process's clock, because the server's clock may differ.
 */
export class Succession {
  private readonly seen = new Map<string, { readonly poll: number; readonly silentMs: number }>();
  private lookedAt = -Infinity;

  constructor(
    private readonly routing: Routing,
    private own: string,
    /** More than three times the pause between looks. */
    private readonly unservedMs: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  become(own: string): void {
    this.own = own;
    this.seen.clear();
  }

  /** Returns the problem if this build took the place of another. */
  async look(stillRunning: () => boolean): Promise<HoldfastError | undefined> {
    const standing = await this.routing.standing();
    const { current, replaced, builds, manager } = standing;
    if (current === this.own) this.seen.clear();
    // The current build is unset, or a manager decides alone.
    if (current === this.own || current === undefined || manager !== undefined) return undefined;
    if (replaced === this.own) {
      // This build was replaced as unserved.
      return this.routing.makeCurrent(this.own, stillRunning);
    }
    const newer = builds.slice(0, Math.max(builds.indexOf(this.own), 0));
    const polls = await this.routing.polls();
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
    // After a gap between looks, as during an outage of the server, earlier silence proves nothing.
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
