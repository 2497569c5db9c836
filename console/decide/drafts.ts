import { signal } from '@preact/signals';
import type { Json } from '../../contract/messages/messages';
import { identity } from '../data/identity';
import { isLoginNeeded } from '../data/service';

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

const storedAs = 'holdfast.drafts';

export const drafts = signal<ReadonlyMap<string, AnswerDraft>>(new Map(stored()));

addEventListener('pagehide', () => {
  if (isLoginNeeded.peek()) sessionStorage.setItem(storedAs, JSON.stringify({ name: identity.peek().name, drafts: [...drafts.peek()] }));
});

/** After a login by the same person. */
function stored(): readonly (readonly [string, AnswerDraft])[] {
  try {
    const { name, drafts: kept } = JSON.parse(sessionStorage.getItem(storedAs) ?? '{}') as {
      readonly name?: string;
      readonly drafts?: readonly (readonly [string, AnswerDraft])[];
    };
    sessionStorage.removeItem(storedAs);
    return name === identity.peek().name ? (kept ?? []) : [];
  } catch {
    return [];
  }
}

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
