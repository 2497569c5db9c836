import { frozen } from '../../contract/freeze';
import type { StartInput } from '../../contract/record/wire';
import type { JsonObject } from '../../contract/messages/messages';
import { jsonSize } from '../../contract/limits';
import type { RunHistory } from './message-store';

/** What the start of a run gave for its tools: for whom, or for what, it works. */
export interface RunAbout {
  readonly values: JsonObject;
  readonly tags: readonly string[];
}

export const aboutNothing: RunAbout = frozen({ values: {}, tags: [] });

export function aboutOf({ values = {}, tags = [] }: Pick<StartInput, 'values' | 'tags'>): RunAbout {
  return frozen({ values, tags });
}

/** What runs were started with, bounded in bytes. The history has it, so that no call need carry it. */
export class StartStore {
  private readonly entries = new Map<string, { readonly about: Promise<RunAbout>; bytes: number }>();
  private bytes = 0;

  constructor(
    private readonly history: RunHistory,
    private readonly maxBytes: number,
  ) {}

  async of(workflowId: string, runId: string): Promise<RunAbout> {
    const known = this.entries.get(runId);
    if (known !== undefined) return known.about;
    const entry = { about: this.read(workflowId, runId), bytes: 0 };
    this.entries.set(runId, entry);
    try {
      const about = await entry.about;
      entry.bytes = jsonSize(about) + runId.length;
      this.bytes += entry.bytes;
      this.forget(runId);
      return about;
    } catch (error) {
      this.entries.delete(runId);
      throw error;
    }
  }

  private async read(workflowId: string, runId: string): Promise<RunAbout> {
    for await (const facts of this.history.oldest(workflowId, runId))
      for (const fact of facts) if (fact.kind === 'start') return aboutOf(fact.input.start);
    return aboutNothing;
  }

  private forget(but: string): void {
    for (const [runId, { bytes }] of this.entries) {
      if (this.bytes <= this.maxBytes) return;
      if (runId === but) continue;
      this.entries.delete(runId);
      this.bytes -= bytes;
    }
  }
}
