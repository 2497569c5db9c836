import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { SearchAttributePair } from '@temporalio/common';
import { defineSearchAttributeKey } from '@temporalio/common';
import type { AskingPolicy } from '../contract/decisions';
import { interruptMemoPrefix, names, sinceMemoPrefix } from '../contract/names';

const statusKey = defineSearchAttributeKey('HoldfastStatus', 'KEYWORD');
const startedAtKey = defineSearchAttributeKey('HoldfastStartedAt', 'DATETIME');

/** Attributes of the server and the SDK, which commands may not set. */
const foreignAttributes = /^(Temporal|BuildIds$)/;

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

export function withTimes(values: MemoValues, now: number): Record<string, unknown> {
  const times = Object.entries(values)
    .filter(([key]) => key.startsWith(interruptMemoPrefix))
    .map(([key, interrupt]) => {
      const since = interrupt === null ? null : ((interrupt as { readonly policy?: AskingPolicy }).policy?.since ?? now);
      return [sinceMemoPrefix + key.slice(interruptMemoPrefix.length), since] as const;
    });
  return { ...values, ...Object.fromEntries(times) };
}

/** An execution has only the memo of its start. */
export function listedMemo(): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(workflowInfo().memo ?? {}).filter(([key, value]) => key !== names.memo.events && value !== null),
  );
}

/** With the start of the run, because the server knows only the start of the execution. */
export function listedAttributes(): SearchAttributePair[] {
  const { typedSearchAttributes, startTime } = workflowInfo();
  const own = typedSearchAttributes.getAll().filter(({ key }) => !foreignAttributes.test(key.name));
  if (own.some(({ key }) => key.name === startedAtKey.name)) return own;
  return [...own, { key: startedAtKey, value: startTime }];
}

export function startedAt(): number {
  const { typedSearchAttributes, startTime } = workflowInfo();
  return (typedSearchAttributes.get(startedAtKey) ?? startTime).getTime();
}
