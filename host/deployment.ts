import type { ConnectionLike } from '@temporalio/client';
import type { BuildOfQueue } from '../contract/conversations';
import { millisecondsOf } from './history/history-facts';
import { addressOf } from './server-address';
import { visibilityGate } from './visibility-gate';

/** A build that the server knows of. */
export interface KnownBuild {
  readonly id: string;
  /** When the server first heard of it, in milliseconds since 1970. */
  readonly since: number;
}

/** Which build new runs go to, and who said so. */
export interface DeploymentStanding {
  readonly current: string | undefined;
  /** The build that was current when another took its place because nobody served it. */
  readonly replaced: string | undefined;
  /** Who alone may say which build is current, such as Temporal's Worker Controller. Undefined: anybody. */
  readonly manager?: string | undefined;
  /** Every build that the server knows of, newest first. */
  readonly builds: readonly string[];
  /** Those of which the server has found that no run is open. */
  readonly drained: ReadonlySet<string>;
  /** Changes with every change of the deployment. */
  readonly token: Uint8Array | undefined;
}

/** What the identity of a worker says that serves a build not for new runs, but for those that are open. */
export const keeping = 'keeps-open-runs';
export const replacing = ' instead of ';

const patienceMs = 30_000;
/** Nobody waits longer for what may be told the next time. */
const lookMs = 2000;

/** VERSION_DRAINAGE_STATUS_DRAINED. */
const drainedStatus = 2;

/** Of workflows and of activities. */
const taskQueueTypes = [1, 2] as const;

/** What the server says of the Worker Deployment that all builds of a task queue belong to. */
export class DeploymentReader {
  constructor(
    protected readonly connection: ConnectionLike,
    protected readonly namespace: string,
    readonly name: string,
  ) {}

  /** What the server is asked is answered in time, or fails: a look at builds must come to an end. */
  protected asked<T>(run: (service: ConnectionLike['workflowService']) => Promise<T>): Promise<T> {
    return this.connection.withDeadline(Date.now() + patienceMs, () => run(this.connection.workflowService));
  }

  async standing(): Promise<DeploymentStanding> {
    const { standing } = await this.described();
    return standing;
  }

  /** The build to which new runs go. Undefined: the server knows none, or does not say so soon. */
  async newest(): Promise<BuildOfQueue | undefined> {
    const { connection, namespace, name } = this;
    try {
      const { workerDeploymentInfo } = await connection.withDeadline(Date.now() + lookMs, () =>
        connection.workflowService.describeWorkerDeployment({ namespace, deploymentName: name }),
      );
      const build = workerDeploymentInfo?.routingConfig?.currentDeploymentVersion?.buildId;
      return build ? { deployment: name, build } : undefined;
    } catch {
      return undefined;
    }
  }

  /** The same, with when each build came. */
  async described(): Promise<{ readonly standing: DeploymentStanding; readonly known: readonly KnownBuild[] }> {
    const { workerDeploymentInfo, conflictToken } = await this.asked((service) =>
      service.describeWorkerDeployment({ namespace: this.namespace, deploymentName: this.name }),
    );
    const { versionSummaries, routingConfig, lastModifierIdentity, managerIdentity } = workerDeploymentInfo ?? {};
    const newestFirst = [...(versionSummaries ?? [])].sort(
      (one, other) => millisecondsOf(other.createTime) - millisecondsOf(one.createTime),
    );
    const known = newestFirst.flatMap(({ deploymentVersion, createTime }) =>
      deploymentVersion?.buildId ? [{ id: deploymentVersion.buildId, since: millisecondsOf(createTime) }] : [],
    );
    const standing = {
      current: routingConfig?.currentDeploymentVersion?.buildId ?? undefined,
      replaced: lastModifierIdentity?.split(replacing)[1],
      manager: managerIdentity || undefined,
      builds: known.map(({ id }) => id),
      drained: new Set(
        newestFirst.flatMap(({ drainageStatus, deploymentVersion }) =>
          Number(drainageStatus) === drainedStatus ? (deploymentVersion?.buildId ?? []) : [],
        ),
      ),
      token: conflictToken ?? undefined,
    };
    return { standing, known };
  }

  /** By build, when a worker that serves it for new runs last began to poll, by the clock of the server. */
  async polls(): Promise<ReadonlyMap<string, number>> {
    return latestOf((await this.pollers()).filter(({ identity }) => !identity.startsWith(keeping)));
  }

  /** The same with workers that serve a build for its open runs only. */
  async allPolls(): Promise<ReadonlyMap<string, number>> {
    return latestOf(await this.pollers());
  }

  /** When any worker last polled, also one without builds. 0: the server remembers none. */
  async lastPoll(): Promise<number> {
    return Math.max(0, ...(await this.pollers()).map(({ at }) => at));
  }

  private async pollers(): Promise<readonly Poller[]> {
    const found: Poller[] = [];
    for (const taskQueueType of taskQueueTypes) {
      const { pollers } = await this.asked((service) =>
        service.describeTaskQueue({ namespace: this.namespace, taskQueue: { name: this.name }, taskQueueType }),
      );
      for (const { identity, deploymentOptions, lastAccessTime } of pollers ?? [])
        found.push({ buildId: deploymentOptions?.buildId ?? '', identity: identity ?? '', at: millisecondsOf(lastAccessTime) });
    }
    return found;
  }

  /** How many runs are open under a build. */
  async openRuns(buildId: string): Promise<number> {
    const query = `TemporalWorkerDeploymentVersion = '${this.name}:${buildId}' AND ExecutionStatus = 'Running'`;
    const gate = visibilityGate(addressOf(this.connection), this.namespace);
    const { count } = await gate.ask(this, `count ${query}`, () =>
      this.asked((service) => service.countWorkflowExecutions({ namespace: this.namespace, query })),
    );
    return Number(count ?? 0);
  }
}

interface Poller {
  readonly buildId: string;
  readonly identity: string;
  readonly at: number;
}

function latestOf(pollers: readonly Poller[]): ReadonlyMap<string, number> {
  const latest = new Map<string, number>();
  for (const { buildId, at } of pollers) if (buildId !== '') latest.set(buildId, Math.max(latest.get(buildId) ?? 0, at));
  return latest;
}
