import { HoldfastError, messageOf, thrownCodeOf } from '../../contract/errors';
import type { Message } from '../../contract/messages/messages';
import type { Chain } from './chain';
import { PlacedError, merged } from './chain';
import type { CallbackArgs, CallbackResult } from './types';
import { isCancellation } from '../../kernel/effects/errors';

export async function throughStages<Args extends CallbackArgs, Result extends CallbackResult>(
  chains: readonly Chain<Args, Result>[],
  args: Args,
): Promise<Result | undefined> {
  let all: Result | undefined;
  for (const chain of chains) {
    const { result, error } = await chain.run(args);
    if (error !== undefined) throw error;
    if (result === undefined) continue;
    all = all === undefined ? result : merged(chain.phase, all, result);
    if (result[chain.phase.custom] !== undefined) break;
  }
  return all;
}

export function filledChains<Item extends { readonly length: number }>(...chains: readonly (Item | undefined)[]): readonly Item[] {
  return chains.filter((chain): chain is Item => chain !== undefined && chain.length > 0);
}

export function failing(phase: string): (error: unknown) => never {
  return (error) => {
    throw phaseFailure(phase, error);
  };
}

export function phaseFailure(phase: string, error: unknown): unknown {
  if (isCancellation(error) || thrownCodeOf(error) !== undefined) return error;
  const message = error instanceof PlacedError ? messageOf(error) : `${phase} callback failed: ${messageOf(error)}`;
  return new HoldfastError('callback-failed', message, { cause: error });
}

export function shownError(error: unknown): Error {
  const code = thrownCodeOf(error) ?? 'run-failed';
  return new HoldfastError(code, `${code}: ${messageOf(error)}`, { cause: error });
}

export function assistantMessage(said: string | Message): Message {
  return typeof said === 'string' ? { role: 'assistant', parts: [{ type: 'text', text: said }] } : said;
}
