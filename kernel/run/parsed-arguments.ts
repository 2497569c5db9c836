import type { Message } from '../../contract/messages/messages';
import { canonicalJson, toolCallsOf } from '../../contract/messages/messages';
import type { ParseInputResult, ParseOutputResult } from '../../contract/record/wire';

export type ParsedArguments = ReadonlyMap<string, ParseInputResult>;

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

/** Undefined for changed arguments, and for all arguments after a continue-as-new. */
export function parsedArgumentOf(parsed: ParsedArguments | undefined, tool: string, input: string): ParseInputResult | undefined {
  return parsed?.get(keyOf(tool, input));
}

function keyOf(tool: string, input: string): string {
  return `${tool} ${input}`;
}
