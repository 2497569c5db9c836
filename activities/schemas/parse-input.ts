import { canonicalJson } from '../../contract/messages/messages';
import type { ParseInputRequest, ParseInputResult } from '../../contract/record/wire';
import type { ToolRegistry } from '../tools/tools';

/** Parses arguments before a policy sees them. What parsing left as it was is not sent back. */
export async function parseInput(tools: ToolRegistry, { tool, input }: ParseInputRequest): Promise<ParseInputResult> {
  const parsed = await tools.parse(tool, input);
  if (!parsed.ok) return parsed;
  return canonicalJson(parsed.json) === canonicalJson(input)
    ? { ok: true, hash: parsed.hash }
    : { ok: true, input: parsed.json, hash: parsed.hash };
}
