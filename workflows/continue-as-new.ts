import { workflowInfo } from '@temporalio/workflow';
import { limits } from '../contract/limits';

/** The server ends a run with too long a history, and refuses too many signals and updates. */
export class ContinueAsNewWish {
  signals = 0;
  updates = 0;
  isAsked = false;

  /** Before the next turn, where no code waits. */
  get isSoon(): boolean {
    return this.isUrgent || workflowInfo().continueAsNewSuggested;
  }

  /** Even while code waits. */
  get isUrgent(): boolean {
    const { historyLength, historySize } = workflowInfo();
    return (
      this.isAsked ||
      historyLength >= limits.eventsPerRun ||
      historySize >= limits.historyBytes ||
      this.updates >= limits.updatesPerRun ||
      this.signals >= limits.signalsPerRun
    );
  }
}
