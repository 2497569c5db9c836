import type { Message } from '../../contract/messages/messages';
import { canonicalJson, toolCallsOf } from '../../contract/messages/messages';
import type { ParseInputResult, ParseOutputResult } from '../../contract/record/wire';
import type { AgentScope } from './scope';

/** Parsed arguments, by tool and arguments. An answer of a model brings the parsed arguments of its calls. */
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

/** By the canonical text of the arguments. Changed arguments, and all arguments after a continue-as-new, are unknown: the worker is asked. */
export function parsedArgumentOf({ run, path }: AgentScope, tool: string, input: string): ParseInputResult | undefined {
  return run.parsed.get(path.join('/'))?.get(keyOf(tool, input));
}

function keyOf(tool: string, input: string): string {
  return `${tool} ${input}`;
}
