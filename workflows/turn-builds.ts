import { workflowInfo } from '@temporalio/workflow';
import { names } from '../contract/names';
import type { AgentRunInput } from '../contract/record/wire';
import type { ShortActivities } from './short-activities';

/** Turns that follow each other closely stay where they are: nobody looks for another build more often. */
const pauseMs = 60_000;

/** Asks before a turn of a conversation whether there is a newer build, to which the conversation moves first. */
export class TurnBuilds {
  /** A conversation begins under the newest build. */
  private lookedAt: number | undefined;
  private readonly isPinned: boolean;

  constructor(
    { start, snapshot }: AgentRunInput,
    private readonly short: Pick<ShortActivities, 'run'>,
    private readonly run: { now(): number; move(): void },
  ) {
    this.isPinned = start.conversation?.build === 'pinned';
    if (snapshot === undefined) this.lookedAt = run.now();
  }

  /** Absent: the turn begins here. */
  beforeTurn(): Promise<void> | undefined {
    const { deploymentName = '', buildId = '' } = workflowInfo().currentDeploymentVersion ?? {};
    const now = this.run.now();
    if (this.isPinned || deploymentName === '' || (this.lookedAt !== undefined && now - this.lookedAt < pauseMs)) return undefined;
    this.lookedAt = now;
    return this.short.run<string>(names.buildActivity, [deploymentName], 5000, 1).then(
      (newest) => {
        if (newest !== '' && newest !== buildId) this.run.move();
      },
      // A server that cannot say holds up no turn.
      () => undefined,
    );
  }
}
