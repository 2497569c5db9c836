import { signal } from '@preact/signals';
import type { Json } from '../../contract/messages/messages';

export type DecisionMode = 'look' | 'edit' | 'reject' | 'respond' | 'delegate';

/** What somebody has begun to say about an interrupt. It stays while they look at others. */
export interface AnswerDraft {
  readonly mode: DecisionMode;
  readonly edited?: Json | undefined;
  readonly feedback?: string;
  readonly comment?: string;
  readonly output?: Json | undefined;
  readonly to?: string;
  readonly forRestOfRun?: boolean;
  readonly upTo?: Json | undefined;
  readonly answer?: Json | undefined;
  /** The hash of the arguments that were shown when somebody first looked. */
  readonly seenHash?: string;
  /** Somebody has tried to send it: what does not fit is shown from then on. */
  readonly wasTried?: boolean;
  /** Why what was tried does not fit. */
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
