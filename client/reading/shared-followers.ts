import type { RunFollower } from './follower';

export interface SharedFollower {
  readonly follower: Promise<RunFollower>;
  readers: number;
  ending?: NodeJS.Timeout;
}

/** A reader often reads on after a pause. */
const lingerMs = 500;

export class SharedFollowers {
  private readonly followers = new Map<string, SharedFollower>();

  has(workflowId: string): boolean {
    return this.followers.has(workflowId);
  }

  share(workflowId: string, begin: () => Promise<RunFollower>): SharedFollower {
    const known = this.followers.get(workflowId);
    if (known !== undefined) {
      clearTimeout(known.ending);
      known.readers += 1;
      return known;
    }
    const follower = begin();
    follower.catch(() => undefined);
    const shared: SharedFollower = { follower, readers: 1 };
    this.followers.set(workflowId, shared);
    const forget = (): void => this.forget(workflowId, shared);
    follower.then(({ over }) => over).then(forget, forget);
    return shared;
  }

  forget(workflowId: string, shared: SharedFollower): void {
    if (this.followers.get(workflowId) === shared) this.followers.delete(workflowId);
  }

  leave(workflowId: string, shared: SharedFollower): void {
    shared.readers -= 1;
    if (shared.readers > 0) return;
    if (this.followers.get(workflowId) !== shared) return stop(shared);
    clearTimeout(shared.ending);
    shared.ending = setTimeout(() => {
      this.forget(workflowId, shared);
      if (shared.readers === 0) stop(shared);
    }, lingerMs);
    shared.ending.unref();
  }

  close(): void {
    for (const shared of this.followers.values()) {
      clearTimeout(shared.ending);
      stop(shared);
    }
    this.followers.clear();
  }
}

function stop({ follower }: SharedFollower): void {
  follower.then(
    (running) => running.stop(),
    () => undefined,
  );
}
