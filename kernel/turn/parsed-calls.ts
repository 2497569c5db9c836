import { mcpToolOf } from '../../contract/manifest';
import type { MaybePromise } from '../../contract/maybe-promise';
import type { Json, ToolCall } from '../../contract/messages/messages';
import { canonicalJson } from '../../contract/messages/messages';
import type { ParseInputResult } from '../../contract/record/wire';
import type { Frame } from '../effects/frames';
import { frozen } from '../../contract/freeze';
import { decidedOf } from '../hooks/together';
import { parsedArgumentOf } from '../run/parsed-arguments';
import { checkedToolOptions } from '../run/run-options';
import type { AgentScope } from '../run/scope';
import { ToolError } from '../effects/errors';

export interface ParsedCall {
  readonly call: ToolCall;
  readonly rawInput: Json;
}

/** Parses each value of the arguments once, at its first appearance in the layers. */
export class ParsedCalls {
  private readonly byText = new Map<string, ParsedCall>();
  private readonly byInput = new Map<Json, ParsedCall>();

  constructor(
    private readonly scope: AgentScope,
    private readonly raw: ToolCall,
  ) {}

  async parsed(requested: ToolCall, frame: Frame): Promise<ParsedCall> {
    return decided(this.byInput.get(requested.input) ?? (await this.meant(requested.input, frame)), requested, frame);
  }

  private async meant(input: Json, frame: Frame): Promise<ParsedCall> {
    const text = canonicalJson(input);
    return this.byText.get(text) ?? this.keep(input, await this.parse(input, text, frame));
  }

  private parse(input: Json, text: string, frame: Frame): MaybePromise<ParseInputResult> {
    const { scope, raw } = this;
    const parsed = scope.run.parsed.get(scope.path.join('/'));
    const known = scope.agent.ownTools.get(raw.name)?.parse(input) ?? parsedArgumentOf(parsed, raw.name, text);
    if (known !== undefined) return frame.once('parse', () => known);
    return frame.effect('parse', () => {
      const schema = mcpToolOf(scope.run.manifest, raw.name)?.inputSchema;
      return scope.run.ports.parseInput(frame.key, raw.name, input, schema);
    });
  }

  private keep(input: Json, result: ParseInputResult): ParsedCall {
    if (!result.ok) throw new ToolError({ code: 'tool-input-invalid', message: result.message }, undefined);
    const { id, name } = this.raw;
    const call = { id, name, input: result.input === undefined ? input : result.input, inputHash: result.hash };
    const parsed = { call, rawInput: input };
    this.byText.set(canonicalJson(input), parsed);
    // A schema might parse a parsed value differently, so a parsed value stands for itself.
    this.byText.set(canonicalJson(call.input), parsed);
    // A layer may still change an unfrozen value of its own.
    if (call.input !== input || input === this.raw.input) this.byInput.set(frozen(call.input), parsed);
    return parsed;
  }
}

function decided(parsed: ParsedCall, { options }: ToolCall, { decision, key }: Frame): ParsedCall {
  const { call: known, rawInput } = parsed;
  const call = options === undefined ? known : { ...known, options: checkedToolOptions(options, known.name) };
  decision?.arrives(key, () => decidedOf(call));
  return call === known ? parsed : { call, rawInput };
}
