import type { Activities } from '../activities/activities';
import { createActivities } from '../activities/activities';
import type { WorkerParts } from '../activities/parts';

/**
 * What the calls of a process work with, which may change while it runs. A call that runs keeps what it began with. A run is prepared with what came
 * with its build: it may have begun a moment before another build took its place.
 */
export class SwitchedParts {
  private readonly ofBuilds = new Map<string, WorkerParts>();

  constructor(
    buildId: string,
    private now: WorkerParts,
  ) {
    this.ofBuilds.set(buildId, now);
  }

  get current(): WorkerParts {
    return this.now;
  }

  /** Returns what puts back all that was before. */
  become(buildId: string, parts: WorkerParts): () => void {
    const before = this.now;
    const ofBuild = this.ofBuilds.get(buildId);
    this.ofBuilds.set(buildId, parts);
    this.now = parts;
    return () => {
      this.now = before;
      if (ofBuild === undefined) this.ofBuilds.delete(buildId);
      else this.ofBuilds.set(buildId, ofBuild);
    };
  }

  /** Nobody serves the build any more. */
  forget(buildId: string): void {
    this.ofBuilds.delete(buildId);
  }

  /** What runs of a build are prepared with. */
  preparing(buildId: string): WorkerParts {
    return this.ofBuilds.get(buildId) ?? this.now;
  }

  activitiesOf(buildId: string): Activities {
    return createActivities(
      () => this.now,
      () => this.preparing(buildId),
    );
  }
}
