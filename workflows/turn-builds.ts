import { workflowInfo } from '@temporalio/workflow';
import { isRecord } from '../contract/check';
import type { AgentRunInput } from '../contract/record/wire';

/** Before a turn the run moves to a newer build that the client knew. */
export class TurnBuilds {
  private readonly isPinned: boolean;
  private newest = '';
  /** A build that refused one turn refuses the next. */
  private asked = '';

  constructor(
    { start }: AgentRunInput,
    private readonly move: () => void,
  ) {
    this.isPinned = start.conversation?.build === 'pinned';
  }

  /** Any client may send any content. */
  hear(newest: unknown): void {
    if (!isRecord(newest) || newest['deployment'] !== workflowInfo().currentDeploymentVersion?.deploymentName) return;
    const { build } = newest;
    if (typeof build === 'string') this.newest = build;
  }

  beforeTurn(): void {
    const { newest } = this;
    if (this.isPinned || newest === '' || newest === this.asked || newest === workflowInfo().currentDeploymentVersion?.buildId) return;
    this.asked = newest;
    this.move();
  }
}
