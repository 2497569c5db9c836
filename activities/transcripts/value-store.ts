import { HoldfastError } from '../../contract/errors';
import { jsonSize } from '../../contract/limits';
import type { RunLocalValues } from '../../contract/run-local';
import { RunLocalFold, editedValues } from '../../contract/run-local';
import type { CallChange, RunLocalEdit } from '../../contract/record/wire';
import type { RunHistory } from './message-store';

const bytesPerEntry = 200;

/** The worker's memory of run-local values, by call, bounded in bytes. What is missing is read from the history of the run. */
export class RunLocalStore {
  private readonly entries = new Map<string, { readonly values: RunLocalValues; readonly bytes: number }>();
  private readonly changes = new Map<string, { readonly change: CallChange; readonly bytes: number }>();
  private bytes = 0;
  /** How often history had to be read. */
  misses = 0;

  constructor(
    private readonly history: RunHistory,
    private readonly maxBytes: number,
  ) {}

  /** The values behind the edit of a call. */
  async resolve(workflowId: string, runId: string, activityId: string, edit: RunLocalEdit | undefined): Promise<RunLocalValues> {
    if (edit === undefined) return {};
    const known = editedValues(
      edit,
      (id) => this.entries.get(`${runId}:${id}`)?.values,
      (id) => this.changes.get(`${runId}:${id}`)?.change,
    );
    const values = known ?? (await this.fromHistory(workflowId, runId, activityId));
    // Values that an earlier call has as well are shared with it.
    const own = known === undefined ? jsonSize(values) : jsonSize(edit);
    this.put(this.entries, `${runId}:${activityId}`, { values, bytes: own + bytesPerEntry });
    return values;
  }

  /** What a call is about to hand back. Whether that gets into the history or not: nothing else ever has its id. */
  learn(runId: string, change: CallChange | undefined): void {
    if (change !== undefined) this.put(this.changes, `${runId}:${change.id}`, { change, bytes: jsonSize(change) + bytesPerEntry });
  }

  private async fromHistory(workflowId: string, runId: string, activityId: string): Promise<RunLocalValues> {
    this.misses += 1;
    const fold = new RunLocalFold();
    for (const fact of await this.history.all(workflowId, runId)) fold.add(fact);
    const values = fold.valuesOf(activityId);
    if (values === undefined)
      throw new HoldfastError('internal', `The history of ${workflowId} has no run-local values for ${activityId}.`);
    return values;
  }

  private put<Entry extends { readonly bytes: number }>(map: Map<string, Entry>, key: string, entry: Entry): void {
    this.bytes += entry.bytes - (map.get(key)?.bytes ?? 0);
    map.delete(key);
    map.set(key, entry);
    while (this.bytes > this.maxBytes) {
      const [victim, oldest] = this.oldest();
      if (oldest === undefined || (victim === (map as unknown) && oldest === key)) return;
      this.bytes -= victim.get(oldest)?.bytes ?? 0;
      victim.delete(oldest);
    }
  }

  private oldest(): readonly [Map<string, { readonly bytes: number }>, string | undefined] {
    const victim: Map<string, { readonly bytes: number }> = this.changes.size > this.entries.size ? this.changes : this.entries;
    return [victim, victim.keys().next().value];
  }
}
