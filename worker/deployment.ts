import { defined } from '../contract/defined';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import { HoldfastError, messageOf } from '../contract/errors';
import { unanswered } from '../host/unanswered';
import { visibilityGate } from '../host/visibility-gate';

/** Which build new runs go to, and who said so. */
export interface DeploymentStanding {
  readonly current: string | undefined;
  /** The build that was current when another took its place because nobody served it. */
  readonly replaced: string | undefined;
  /** Every build that the server knows of, newest first. */
  readonly builds: readonly string[];
  /** Those of which the server has found that no run is open. */
  readonly drained: ReadonlySet<string>;
  /** Changes with every change of the deployment. */
  readonly token: Uint8Array | undefined;
}

/** What the identity of a worker says that serves a build not for new runs, but for those that are open. */
const keeping = 'keeps-open-runs';
const replacing = ' instead of ';

const patienceMs = 30_000;
const grpcNotFound = 5;

/** VERSION_DRAINAGE_STATUS_DRAINED. */
const drainedStatus = 2;

/** Of workflows and of activities. */
const taskQueueTypes = [1, 2] as const;

/** The identity of a worker towards the server. */
export function identityOf(newest: boolean, pid = process.pid): string {
  return `${newest ? '' : `${keeping}-`}${pid}@${hostname()}`;
}

/** Of the workers of a process of this host. */
export function identitiesOf(pid: number): readonly string[] {
  return [identityOf(true, pid), identityOf(false, pid)];
}

/** The Worker Deployment that all builds of a task queue belong to. */
export class Deployment {
  constructor(
    private readonly connection: Connection,
    private readonly namespace: string,
    readonly name: string,
    /** How long the server may refuse a build before that is an error. */
    private readonly refusedMs = 30_000,
  ) {}

  /** Sends new runs to a build. Its worker polls already, or the server does not know the build yet. */
  async makeCurrent(buildId: string, stillRunning: () => boolean): Promise<void> {
    if (await this.isCurrent(buildId)) return;
    const until = Date.now() + this.refusedMs;
    for (;;) {
      try {
        return await this.setCurrent(buildId, `holdfast-${process.pid}`, undefined);
      } catch (error) {
        if (!stillRunning()) return;
        if (Date.now() > until)
          throw new HoldfastError(
            'server-unreachable',
            `The server at ${this.connection.options.address} does not take build ${buildId} as the current one: ${unanswered(error) ?? messageOf(error)}${await this.roomHint()}`,
            { cause: error },
          );
        await delay(50);
      }
    }
  }

  /** The server says of a namespace that is full only that something went wrong. */
  private async roomHint(): Promise<string> {
    try {
      await this.standing();
      return '';
    } catch (error) {
      if ((error as { code?: unknown }).code !== grpcNotFound) return '';
      return (
        ` It has no Worker Deployment "${this.name}", although a worker polls for it. Each task queue is one, and a namespace has room for 100:` +
        ' raise matching.maxDeployments, or delete deployments of task queues that nobody uses (`temporal worker deployment delete`).'
      );
    }
  }

  /** Whether new runs go to a build already, and not only in place of one that nobody served: then nothing need be said, and no restart waits for it. */
  private async isCurrent(buildId: string): Promise<boolean> {
    try {
      const { current, replaced } = await this.standing();
      return current === buildId && replaced === undefined;
    } catch {
      // The server does not know the deployment yet, or cannot say: then it is told.
      return false;
    }
  }

  /** Sends new runs to a build in place of another. Fails when somebody else changed the deployment since it was looked at. */
  replaceCurrent(buildId: string, { current, token }: DeploymentStanding): Promise<void> {
    return this.setCurrent(buildId, `holdfast-${process.pid}${replacing}${current ?? 'none'}`, token);
  }

  /** What the server is asked is answered in time, or fails: a look at builds must come to an end. */
  private asked<T>(run: (service: Connection['workflowService']) => Promise<T>): Promise<T> {
    return this.connection.withDeadline(Date.now() + patienceMs, () => run(this.connection.workflowService));
  }

  private async setCurrent(buildId: string, identity: string, conflictToken: Uint8Array | undefined): Promise<void> {
    await this.asked((service) =>
      service.setWorkerDeploymentCurrentVersion({
        namespace: this.namespace,
        deploymentName: this.name,
        buildId,
        identity,
        ignoreMissingTaskQueues: true,
        allowNoPollers: true,
        ...defined({ conflictToken }),
      }),
    );
  }

  async standing(): Promise<DeploymentStanding> {
    const { workerDeploymentInfo, conflictToken } = await this.asked((service) =>
      service.describeWorkerDeployment({ namespace: this.namespace, deploymentName: this.name }),
    );
    const { versionSummaries, routingConfig, lastModifierIdentity } = workerDeploymentInfo ?? {};
    const newestFirst = [...(versionSummaries ?? [])].sort(
      (one, other) => millisecondsOf(other.createTime) - millisecondsOf(one.createTime),
    );
    return {
      current: routingConfig?.currentDeploymentVersion?.buildId ?? undefined,
      replaced: lastModifierIdentity?.split(replacing)[1],
      builds: newestFirst.flatMap(({ deploymentVersion }) => deploymentVersion?.buildId ?? []),
      drained: new Set(
        newestFirst.flatMap(({ drainageStatus, deploymentVersion }) =>
          Number(drainageStatus) === drainedStatus ? (deploymentVersion?.buildId ?? []) : [],
        ),
      ),
      token: conflictToken ?? undefined,
    };
  }

  /** By build, when a worker that serves it for new runs last began to poll, by the clock of the server. */
  async polls(): Promise<ReadonlyMap<string, number>> {
    const latest = new Map<string, number>();
    for (const taskQueueType of taskQueueTypes) {
      const { pollers } = await this.asked((service) =>
        service.describeTaskQueue({ namespace: this.namespace, taskQueue: { name: this.name }, taskQueueType }),
      );
      for (const { identity, deploymentOptions, lastAccessTime } of pollers ?? []) {
        const buildId = deploymentOptions?.buildId;
        if (!buildId || identity?.startsWith(keeping)) continue;
        latest.set(buildId, Math.max(latest.get(buildId) ?? 0, millisecondsOf(lastAccessTime)));
      }
    }
    return latest;
  }

  /** How many runs are open under a build. */
  async openRuns(buildId: string): Promise<number> {
    const query = `TemporalWorkerDeploymentVersion = '${this.name}:${buildId}' AND ExecutionStatus = 'Running'`;
    const gate = visibilityGate(this.connection.options.address, this.namespace);
    const { count } = await gate.ask(this, `count ${query}`, () =>
      this.asked((service) => service.countWorkflowExecutions({ namespace: this.namespace, query })),
    );
    return Number(count ?? 0);
  }
}

function millisecondsOf(time: { readonly seconds?: unknown; readonly nanos?: number | null } | null | undefined): number {
  return Number(time?.seconds ?? 0) * 1000 + (time?.nanos ?? 0) / 1e6;
}
