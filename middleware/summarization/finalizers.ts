import type { MaybePromise } from '../../contract/maybe-promise';
import { HoldfastError } from '../../contract/errors';
import type { Message } from '../../contract/messages/messages';
import { isMessage, textOf } from '../../contract/messages/messages';
import type { HookContext } from '../../kernel/define/middleware';
import { traitsOf, withTraits } from '../../kernel/define/traits';

export interface SummaryDraft {
  readonly messages: readonly Message[];
  readonly summary: Message;
  readonly result: readonly Message[];
}

/** Returns all messages of the state. */
export type SummaryFinalizer = (draft: SummaryDraft, ctx: HookContext) => MaybePromise<readonly Message[]>;

/**
 * Runs several finalizers of a summary, where each finalizer gets its predecessor's result.
 * @example
 * export const compact = summarization({
 *   model: 'openai/gpt-5-mini',
 *   finalize: chainFinalizers(preserveSkills(), ({ result }) => result.slice(-20)),
 * });
 */
export function chainFinalizers(...finalizers: readonly SummaryFinalizer[]): SummaryFinalizer {
  if (finalizers.length === 0 || finalizers.some((each) => typeof each !== 'function'))
    throw new HoldfastError('agent-invalid', 'chainFinalizers: it takes at least one function, such as preserveSkills().');
  const chain: SummaryFinalizer = async (draft, ctx) => {
    if (textOf(draft.summary).trim() === '') throw new HoldfastError('hook-failed', 'A chain of finalizers got an empty summary.');
    let { result } = draft;
    for (const [position, finalize] of finalizers.entries())
      result = checkedResult(await finalize({ ...draft, result }, ctx), `Finalizer ${position + 1} of the chain`);
    return result;
  };
  return withTraits(chain, { remembersTools: finalizers.flatMap((each) => traitsOf(each).remembersTools ?? []) });
}

export function checkedResult(result: unknown, what: string): readonly Message[] {
  if (Array.isArray(result) && result.length > 0 && result.every(isMessage)) return result;
  throw new HoldfastError('hook-failed', `${what} returned no messages; it is to return the list of messages that the agent goes on with.`);
}
