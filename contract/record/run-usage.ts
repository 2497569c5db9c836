import type { Usage } from '../messages/messages';
import type { PackedByModel, UsageByModel } from '../usage';
import { addUsage, addUsageByModel, unpackByModel } from '../usage';

export class RunUsage {
  all: Usage = { inputTokens: 0, outputTokens: 0 };
  byModel: UsageByModel = {};

  called(model: string, usage: Usage | null | undefined): void {
    if (usage === undefined || usage === null) return;
    this.add(usage, { [model]: usage });
  }

  ofChild({ type, usage, usageByModel }: { readonly type: string; readonly usage?: unknown; readonly usageByModel?: unknown }): object {
    if (type !== 'agent-end' || usage === undefined) return {};
    const byModel = usageByModel === undefined ? undefined : unpackByModel(usage as Usage, usageByModel as PackedByModel);
    this.add(usage as Usage, byModel);
    return byModel === undefined ? {} : { usageByModel: byModel };
  }

  private add(usage: Usage, byModel: UsageByModel = {}): void {
    this.all = addUsage(this.all, usage);
    this.byModel = addUsageByModel(this.byModel, byModel);
  }

  restore(state: unknown): void {
    const { usage, usageByModel } = state as { usage?: Usage; usageByModel?: UsageByModel };
    if (usage !== undefined) this.all = usage;
    if (usageByModel !== undefined) this.byModel = usageByModel;
  }
}
