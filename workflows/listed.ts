import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { SearchAttributePair } from '@temporalio/common';
import { defineSearchAttributeKey } from '@temporalio/common';
import type { AskingPolicy } from '../contract/decisions';
import { interruptMemoPrefix, names, sinceMemoPrefix } from '../contract/names';

const statusKey = defineSearchAttributeKey('HoldfastStatus', 'KEYWORD');
const startedAtKey = defineSearchAttributeKey('HoldfastStartedAt', 'DATETIME');

/** Those of the server and the SDK, which no command may set. */
const foreignAttributes = /^(Temporal|BuildIds$)/;

/** What lists say of an open run. */
export class ListedStatus {
  is: 'running' | 'waiting' | 'idle' | undefined;
  private shown: string | undefined;

  get hasChanged(): boolean {
    return this.is !== this.shown;
  }

  show(): void {
    if (this.is !== undefined && this.hasChanged) upsertSearchAttributes([{ key: statusKey, value: this.is }]);
    this.shown = this.is;
  }
}

type MemoValues = Readonly<Record<string, unknown>>;

/** Says of each interrupt in the memo since when it is open, for lists. */
export function withTimes(values: MemoValues, now: number): Record<string, unknown> {
  const times = Object.entries(values)
    .filter(([key]) => key.startsWith(interruptMemoPrefix))
    .map(([key, interrupt]) => {
      const since = interrupt === null ? null : ((interrupt as { readonly policy?: AskingPolicy }).policy?.since ?? now);
      return [sinceMemoPrefix + key.slice(interruptMemoPrefix.length), since] as const;
    });
  return { ...values, ...Object.fromEntries(times) };
}

/** What lists show of the run, for the execution that it goes on in. Of the memo an execution has only what it was started with. */
export function listedMemo(): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(workflowInfo().memo ?? {}).filter(([key, value]) => key !== names.memo.events && value !== null),
  );
}

/** The same of the search attributes, with the time at which the run began: the server knows that of the execution only. */
export function listedAttributes(): SearchAttributePair[] {
  const { typedSearchAttributes, startTime } = workflowInfo();
  const own = typedSearchAttributes.getAll().filter(({ key }) => !foreignAttributes.test(key.name));
  if (own.some(({ key }) => key.name === startedAtKey.name)) return own;
  return [...own, { key: startedAtKey, value: startTime }];
}

/** When the run began, in whichever execution that was. */
export function startedAt(): number {
  const { typedSearchAttributes, startTime } = workflowInfo();
  return (typedSearchAttributes.get(startedAtKey) ?? startTime).getTime();
}
