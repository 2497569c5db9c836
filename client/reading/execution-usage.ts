import type { Usage } from '../../contract/messages/messages';
import { agentOfPath } from '../../contract/record/agent-paths';
import { HistoryFold } from '../../contract/record/fold';
import type { HistoryFact } from '../../contract/record/history-fact';
import type { UsageByModel } from '../../contract/usage';
import { lessUsage, noUsage } from '../../contract/usage';

export interface ModelCallUsage {
  readonly time: number;
  readonly agent: string;
  readonly model: string;
  readonly usage: Usage;
}

/** Skips calls that the snapshot counts. */
export class ExecutionUsage {
  private readonly fold = new HistoryFold();
  private readonly callers = new Map<number, string>();
  readonly calls: ModelCallUsage[] = [];

  add(fact: HistoryFact): void {
    if (fact.kind === 'model-scheduled') this.callers.set(fact.eventId, agentOfPath(fact.input.path));
    const before = this.fold.used.byModel;
    this.fold.add(fact);
    if (fact.kind !== 'activity-completed') return;
    const agent = this.callers.get(fact.scheduledId);
    this.callers.delete(fact.scheduledId);
    const model = changedModel(before, this.fold.used.byModel);
    if (agent === undefined || model === undefined) return;
    const usage = lessUsage(this.fold.used.byModel[model] ?? noUsage, before[model] ?? noUsage);
    this.calls.push({ time: fact.time, agent, model, usage });
  }
}

function changedModel(before: UsageByModel, after: UsageByModel): string | undefined {
  return before === after ? undefined : Object.keys(after).find((model) => !Object.hasOwn(before, model) || before[model] !== after[model]);
}
