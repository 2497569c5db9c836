import type { Message } from '../../contract/messages/messages';
import { canonicalJson, toolCallsOf } from '../../contract/messages/messages';
import type { ParseInputResult, ParseOutputResult } from '../../contract/record/wire';
import type { AgentScope } from './scope';

/** What parsing made of arguments, by tool and arguments. An answer brings it along for the calls in it. */
export type ParsedArguments = ReadonlyMap<string, ParseInputResult>;

/** What an output made of an answer of a model. */
export interface ReadAnswer {
  readonly text: string;
  readonly result: ParseOutputResult;
}

export function parsedArgumentsOf(message: Message, parsed: readonly (ParseInputResult | null)[] = []): ParsedArguments {
  const calls = toolCallsOf(message).map(
    ({ name, input }, position) => [keyOf(name, canonicalJson(input)), parsed[position] ?? null] as const,
  );
  return new Map(calls.filter((entry): entry is readonly [string, ParseInputResult] => entry[1] !== null));
}

/**
 * By the canonical text of the arguments. Those that a layer changed, and all after a continue-as-new, are not known: the worker is asked for
 * them.
 */
export function parsedArgumentOf({ run, path }: AgentScope, tool: string, input: string): ParseInputResult | undefined {
  return run.parsed.get(path.join('/'))?.get(keyOf(tool, input));
}

function keyOf(tool: string, input: string): string {
  return `${tool} ${input}`;
}
