import { workflowInfo } from '@temporalio/workflow';
import { isRecord } from '../contract/check';
import type { AgentRunInput } from '../contract/record/wire';

/** Before a turn of a conversation begins, the run goes to a newer build of which the client knew that sent the message. */
export class TurnBuilds {
  private readonly isPinned: boolean;
  private newest = '';
  /** The run asks a build once: one that refused the conversation refuses the next turn as well. */
  private asked = '';

  constructor(
    { start }: AgentRunInput,
    private readonly move: () => void,
  ) {
    this.isPinned = start.conversation?.build === 'pinned';
  }

  /** Whoever reaches the server may send anything. */
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
