import type { Message } from '../../contract/messages/messages';
import { canonicalJson, toolCallsOf } from '../../contract/messages/messages';
import type { ParseInputResult, ParseOutputResult } from '../../contract/record/wire';
import type { AgentScope } from './scope';

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
export function parsedArgumentOf({ run, path }: AgentScope, tool: string, input: string): ParseInputResult | undefined {
  return run.parsed.get(path.join('/'))?.get(keyOf(tool, input));
}

function keyOf(tool: string, input: string): string {
  return `${tool} ${input}`;
}
