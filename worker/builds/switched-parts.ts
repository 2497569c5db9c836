import type { Activities } from '../../activities/activities';
import { createActivities } from '../../activities/activities';
import type { WorkerParts } from '../../activities/parts';

/**
 * A running call keeps its parts. A run is prepared with the parts of its build, because it may have begun just before its build was
 * replaced. The MCP servers are those of today, so that a corrected server helps runs that wait for the server.
 */
export class SwitchedParts {
  private ofBuilds: Map<string, WorkerParts>;
  private readonly made = new WeakMap<WorkerParts, Activities>();

  constructor(
    buildId: string,
    private now: WorkerParts,
  ) {
    this.ofBuilds = new Map([[buildId, now]]);
  }

  get current(): WorkerParts {
    return this.now;
  }

  /** Returns an undo function. */
  become(buildId: string, parts: WorkerParts): () => void {
    const { now, ofBuilds } = this;
    const older = [...ofBuilds].map(([id, ofBuild]) => [id, withServersOf(parts, ofBuild)] as const);
    this.ofBuilds = new Map([...older, [buildId, parts]]);
    this.now = parts;
    return () => {
      this.now = now;
      this.ofBuilds = ofBuilds;
    };
  }

  forget(buildId: string): void {
    this.ofBuilds.delete(buildId);
  }

  preparing(buildId: string): WorkerParts {
    return this.ofBuilds.get(buildId) ?? this.now;
  }

  activitiesOf(buildId: string): Activities {
    const now = (): Activities => this.of(this.now);
    return {
      prepareRun: (...given) => this.of(this.preparing(buildId)).prepareRun(...given),
      parseInput: (...given) => now().parseInput(...given),
      planPolicy: (...given) => now().planPolicy(...given),
      parseOutput: (...given) => now().parseOutput(...given),
      callModel: (...given) => now().callModel(...given),
      callTool: (...given) => now().callTool(...given),
      tryNewestBuild: (...given) => now().tryNewestBuild(...given),
      answersElsewhere: (...given) => now().answersElsewhere(...given),
      keepResumePoint: (...given) => now().keepResumePoint(...given),
      resumePointOf: (...given) => now().resumePointOf(...given),
    };
  }

  private of(parts: WorkerParts): Activities {
    let activities = this.made.get(parts);
    if (activities === undefined) this.made.set(parts, (activities = createActivities(parts)));
    return activities;
  }
}

function withServersOf({ mcp }: WorkerParts, older: WorkerParts): WorkerParts {
  const names = older.mcp?.names ?? [];
  return mcp !== undefined && names.length > 0 && names.every((name) => mcp.names.includes(name)) ? { ...older, mcp } : older;
}
