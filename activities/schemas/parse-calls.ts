import { defined } from '../../contract/defined';
import { jsonSize } from '../../contract/limits';
import type { ToolSpec } from '../../contract/manifest';
import type { Message } from '../../contract/messages/messages';
import { canonicalJson, textOf, toolCallsOf } from '../../contract/messages/messages';
import type { ParseInputRequest, ParseInputResult, ParseOutputResult } from '../../contract/record/wire';
import { inTime } from '../calls/in-time';
import type { ToolRegistry } from '../tools/tools';
import { parsedAs } from '../tools/tools';
import type { OutputRegistry } from './outputs';

const patienceMs = 1_000;
const mostBytes = 64 * 1024;

/** Does not send unchanged arguments back. */
export async function parseInput(tools: ToolRegistry, { tool, input, schema }: ParseInputRequest): Promise<ParseInputResult> {
  const parsed = schema === undefined ? await tools.parse(tool, input) : await parsedAs(tool, schema, input);
  if (!parsed.ok) return parsed;
  return canonicalJson(parsed.json) === canonicalJson(input)
    ? { ok: true, hash: parsed.hash }
    : { ok: true, input: parsed.json, hash: parsed.hash };
}

/**
 * Parses an answer's tool calls in the answer's activity, which saves an activity for each call. Slow, failed and large results are left
 * out: the run requests them later.
 */
export async function parsedCalls(
  tools: ToolRegistry,
  names: readonly string[] | null | undefined,
  message: Message,
  specs: readonly ToolSpec[] = [],
): Promise<{ readonly parsed?: readonly (ParseInputResult | null)[] }> {
  const calls = names === null || names === undefined ? [] : toolCallsOf(message);
  if (!calls.some(({ name }) => names?.includes(name))) return {};
  const parsed = await Promise.all(
    calls.map(async ({ name, input }) => {
      if (names?.includes(name) !== true) return null;
      const schema = specs.find((spec) => spec.name === name)?.inputSchema;
      return soonOrNull(parseInput(tools, { tool: name, input, ...defined({ schema }) }));
    }),
  );
  return jsonSize(parsed) > mostBytes || parsed.every((result) => result === null) ? {} : { parsed };
}

export async function readOutput(
  outputs: Pick<OutputRegistry, 'parse'> | undefined,
  name: string | null | undefined,
  message: Message,
): Promise<{ readonly read?: ParseOutputResult }> {
  if (outputs === undefined || name === null || name === undefined || toolCallsOf(message).length > 0) return {};
  const read = await soonOrNull(outputs.parse(name, textOf(message)));
  return read === null || jsonSize(read) > mostBytes ? {} : { read };
}

function soonOrNull<T>(parsing: Promise<T>): Promise<T | null> {
  return inTime<T | null>(parsing, patienceMs, () => null).catch(() => null);
}
