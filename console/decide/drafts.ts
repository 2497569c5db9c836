import { signal } from '@preact/signals';
import type { Json } from '../../contract/messages/messages';

/** Stays while the person looks at other interrupts. */
export interface AnswerDraft {
  readonly mode: 'look' | 'edit' | 'reject' | 'respond' | 'delegate';
  readonly edited?: Json | undefined;
  readonly feedback?: string;
  readonly comment?: string;
  readonly output?: Json | undefined;
  readonly to?: string;
  readonly forRestOfRun?: boolean;
  readonly upTo?: Json | undefined;
  readonly answer?: Json | undefined;
  readonly seenHash?: string;
  /** Misfits show after the first attempt to send. */
  readonly wasTried?: boolean;
  readonly problem?: string | undefined;
}

const empty: AnswerDraft = { mode: 'look' };

export const drafts = signal<ReadonlyMap<string, AnswerDraft>>(new Map());

export function draftOf(key: string): AnswerDraft {
  return drafts.value.get(key) ?? empty;
}

export function changeDraft(key: string, changes: Partial<AnswerDraft>): void {
  drafts.value = new Map(drafts.peek()).set(key, { ...(drafts.peek().get(key) ?? empty), ...changes });
}

/** Returns whether a form was open. */
export function leaveForm(key: string): boolean {
  const { mode } = draftOf(key);
  if (mode !== 'look') changeDraft(key, { mode: 'look', problem: undefined });
  return mode !== 'look';
}
