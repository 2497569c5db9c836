import type { ConnectionLike } from '@temporalio/client';
import type { BuildOfQueue } from '../contract/conversations';
import { millisecondsOf } from './history/history-facts';
import { addressOf } from './server-address';
import { visibilityGate } from './visibility-gate';

interface KnownBuild {
  readonly id: string;
  /** When the server first heard of the build, in Unix milliseconds. */
  readonly since: number;
}

export interface DeploymentStanding {
  readonly current: string | undefined;
  /** The build before `current`, if no worker served the build any more. */
  readonly replaced: string | undefined;
  /** The only client that may choose the build, such as Temporal's Worker Controller. */
  readonly manager?: string | undefined;
  readonly builds: readonly string[];
  readonly drained: ReadonlySet<string>;
  readonly token: Uint8Array | undefined;
}

/** In identities of workers: `keeping` serves a build only for its open runs. */
export const keeping = 'keeps-open-runs';
export const replacing = ' instead of ';

const patienceMs = 30_000;
const lookMs = 2000;

/** VERSION_DRAINAGE_STATUS_DRAINED. */
const drainedStatus = 2;

const taskQueueTypes = [1, 2] as const;

export class DeploymentReader {
  constructor(
    protected readonly connection: ConnectionLike,
    protected readonly namespace: string,
    readonly name: string,
  ) {}

  protected asked<T>(run: (service: ConnectionLike['workflowService']) => Promise<T>, forMs = patienceMs): Promise<T> {
    return this.connection.withDeadline(Date.now() + forMs, () => run(this.connection.workflowService));
  }

  async standing(): Promise<DeploymentStanding> {
    return (await this.described()).standing;
  }

  /** Undefined: no build is current, or the server is slow. */
  async newest(): Promise<BuildOfQueue | undefined> {
    try {
      const { current } = (await this.described(lookMs)).standing;
      return current ? { deployment: this.name, build: current } : undefined;
    } catch {
      return undefined;
    }
  }

  async described(forMs = patienceMs): Promise<{ readonly standing: DeploymentStanding; readonly known: readonly KnownBuild[] }> {
    const { workerDeploymentInfo, conflictToken } = await this.asked(
      (service) => service.describeWorkerDeployment({ namespace: this.namespace, deploymentName: this.name }),
      forMs,
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

  /** Returns each build's last poll by a worker for new runs, by the server's clock. */
  async polls(): Promise<ReadonlyMap<string, number>> {
    return latestOf((await this.pollers()).filter(({ identity }) => !identity.startsWith(keeping)));
  }

  async allPolls(): Promise<ReadonlyMap<string, number>> {
    return latestOf(await this.pollers());
  }

  /** 0: the server remembers no poll. */
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
