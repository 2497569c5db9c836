import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import { HoldfastError, messageOf } from '../contract/plain/errors';

/** The Worker Deployment that all builds of a task queue belong to. */
export class Deployment {
  constructor(
    private readonly connection: Connection,
    private readonly namespace: string,
    readonly name: string,
  ) {}

  /** Sends new runs to a build. Its worker polls already, or the server does not know the build yet. */
  async makeCurrent(buildId: string, stillRunning: () => boolean): Promise<void> {
    const until = Date.now() + 30_000;
    for (;;) {
      try {
        const { previousDeploymentVersion } = await this.connection.workflowService.setWorkerDeploymentCurrentVersion({
          namespace: this.namespace,
          deploymentName: this.name,
          buildId,
          identity: `holdfast-${process.pid}`,
          ignoreMissingTaskQueues: true,
          allowNoPollers: true,
        });
        void previousDeploymentVersion;
        return;
      } catch (error) {
        if (!stillRunning()) return;
        if (Date.now() > until)
          throw new HoldfastError(
            'server-unreachable',
            `The server does not take build ${buildId} as the current one: ${messageOf(error)}`,
            { cause: error },
          );
        await delay(50);
      }
    }
  }

  /** Every build that the server knows of. */
  async builds(): Promise<readonly string[]> {
    const { workerDeploymentInfo } = await this.connection.workflowService.describeWorkerDeployment({
      namespace: this.namespace,
      deploymentName: this.name,
    });
    return (workerDeploymentInfo?.versionSummaries ?? []).flatMap(({ deploymentVersion }) => deploymentVersion?.buildId ?? []);
  }

  /** How many runs are open under a build. */
  async openRuns(buildId: string): Promise<number> {
    const { count } = await this.connection.workflowService.countWorkflowExecutions({
      namespace: this.namespace,
      query: `TemporalWorkerDeploymentVersion = '${this.name}:${buildId}' AND ExecutionStatus = 'Running'`,
    });
    return Number(count ?? 0);
  }
}
