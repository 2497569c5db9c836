import type { Author } from '../../contract/access';
import { authorWithRoles } from '../../contract/author';
import { frozen } from '../../contract/freeze';
import type { StartInput } from '../../contract/record/wire';
import type { JsonObject } from '../../contract/messages/messages';
import { jsonSize } from '../../contract/limits';
import { ByteMap } from './byte-map';
import type { RunHistory } from './run-history';

/** The author is the starter. */
export interface RunAbout extends Author {
  readonly values: JsonObject;
  readonly tags: readonly string[];
}

export const aboutNothing: RunAbout = frozen({ values: {}, tags: [] });

export function aboutOf(start: Pick<StartInput, 'values' | 'tags' | 'by' | 'roles' | 'proof'>): RunAbout {
  const { values = {}, tags = [] } = start;
  return frozen({ values, tags, ...authorWithRoles(start) });
}

/** Histories have the starts of runs, so no call carries a copy. */
export class StartStore {
  private readonly entries: ByteMap<Promise<RunAbout>>;

  constructor(
    private readonly history: RunHistory,
    maxBytes: number,
  ) {
    this.entries = new ByteMap(maxBytes);
  }

  async of(workflowId: string, runId: string): Promise<RunAbout> {
    const known = this.entries.get(runId);
    if (known !== undefined) return known;
    const reading = this.read(workflowId, runId);
    this.entries.put(runId, reading, 0);
    try {
      const about = await reading;
      this.entries.put(runId, reading, jsonSize(about));
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
}
