import { HoldfastError } from '../../contract/errors';
import { jsonSize } from '../../contract/limits';
import type { RunLocalValues } from '../../contract/run-local';
import { RunLocalFold, editedValues } from '../../contract/run-local';
import type { CallChange, RunLocalEdit } from '../../contract/record/wire';
import { ByteMap } from './byte-map';
import type { RunHistory } from './run-history';

export class RunLocalStore {
  private readonly values: ByteMap<RunLocalValues>;
  private readonly changes: ByteMap<CallChange>;
  misses = 0;

  constructor(
    private readonly history: RunHistory,
    maxBytes: number,
  ) {
    this.values = new ByteMap(maxBytes / 2);
    this.changes = new ByteMap(maxBytes / 2);
  }

  async resolve(workflowId: string, runId: string, activityId: string, edit: RunLocalEdit | undefined): Promise<RunLocalValues> {
    if (edit === undefined) return {};
    const known = editedValues(
      edit,
      (id) => this.values.get(`${runId}:${id}`),
      (id) => this.changes.get(`${runId}:${id}`),
    );
    const values = known ?? (await this.fromHistory(workflowId, runId, activityId));
    // Values of an earlier call are shared, not copied.
    this.values.put(`${runId}:${activityId}`, values, jsonSize(known === undefined ? values : edit));
    return values;
  }

  /** Only this change ever has its id, even if the history never gets the change. */
  learn(runId: string, change: CallChange | undefined): void {
    if (change !== undefined) this.changes.put(`${runId}:${change.id}`, change, jsonSize(change));
  }

  private async fromHistory(workflowId: string, runId: string, activityId: string): Promise<RunLocalValues> {
    this.misses += 1;
    const fold = new RunLocalFold();
    for await (const page of this.history.oldest(workflowId, runId)) for (const fact of page) fold.add(fact);
    const values = fold.valuesOf(activityId);
    if (values === undefined)
      throw new HoldfastError('internal', `The history of ${workflowId} has no run-local values for ${activityId}.`);
    return values;
  }
}
