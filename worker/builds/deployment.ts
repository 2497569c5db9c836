import { defined } from '../../contract/defined';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import { HoldfastError, messageOf } from '../../contract/errors';
import { unanswered } from '../../host/unanswered';
import { addressOf } from '../../host/server-address';
import type { DeploymentStanding } from '../../host/deployment';
import { DeploymentReader, keeping, replacing } from '../../host/deployment';
import { processMark } from '../../host/process-mark';

const grpcNotFound = 5;

export function identityOf(newest: boolean, mark = processMark): string {
  return `${newest ? '' : `${keeping}-`}${mark}@${hostname()}`;
}

export function identitiesOf(mark: string): readonly string[] {
  return [identityOf(true, mark), identityOf(false, mark)];
}

export class Deployment extends DeploymentReader {
  constructor(
    connection: Connection,
    namespace: string,
    name: string,
    private readonly refusedMs = 30_000,
  ) {
    super(connection, namespace, name);
  }

  /**
   * Returns the problem if only a manager may decide. A build that is current already, and did not replace an unserved build, needs no
   * request, so a restart does not wait.
   */
  async makeCurrent(buildId: string, stillRunning: () => boolean): Promise<HoldfastError | undefined> {
    const until = Date.now() + this.refusedMs;
    for (;;) {
      // Without a reply the server does not know the deployment yet, or is busy.
      const { current, replaced, manager } = (await this.standing().catch(() => undefined)) ?? {};
      if (current === buildId && (replaced === undefined || manager !== undefined)) return undefined;
      if (manager !== undefined) return this.managed(buildId, manager, current);
      try {
        await this.setCurrent(buildId, `holdfast-${process.pid}`, undefined);
        return undefined;
      } catch (error) {
        if (!stillRunning()) return undefined;
        if (Date.now() > until)
          throw new HoldfastError(
            'server-unreachable',
            `The server at ${addressOf(this.connection)} does not take build ${buildId} as the current one: ${unanswered(error) ?? messageOf(error)}${await this.roomHint()}`,
            { cause: error },
          );
        await delay(50);
      }
    }
  }

  private managed(buildId: string, manager: string, current: string | undefined): HoldfastError {
    const now = current === undefined ? 'No build is current now' : `New runs go to build ${current} now`;
    return new HoldfastError(
      'build-managed',
      `"${manager}" decides which build of the Worker Deployment "${this.name}" is current. ${now}, and to build ${buildId}, which this process serves, once "${manager}" says so.`,
    );
  }

  /** For a full namespace the server's error is unspecific. */
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

  /** Fails if the deployment has changed since the look. */
  replaceCurrent(buildId: string, { current, token }: DeploymentStanding): Promise<void> {
    return this.setCurrent(buildId, `holdfast-${process.pid}${replacing}${current ?? 'none'}`, token);
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
}
