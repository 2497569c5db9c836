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

/** Parsed arguments: each value is parsed once, wherever it first appears in the layers. */
export class ParsedCalls {
  private readonly byText = new Map<string, ParsedCall>();
  /** Frozen arguments, which need no comparison. */
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

  /** The run knows its own tools, and the model's answer brought the parsed arguments. */
  private parse(input: Json, text: string, frame: Frame): MaybePromise<ParseInputResult> {
    const { scope, raw } = this;
    const known = scope.agent.ownTools.get(raw.name)?.parse(input) ?? parsedArgumentOf(scope, raw.name, text);
    if (known !== undefined) return frame.once('parse', () => known);
    return frame.effect('parse', () => scope.run.ports.parseInput(frame.key, raw.name, input));
  }

  private keep(input: Json, result: ParseInputResult): ParsedCall {
    if (!result.ok) throw new ToolError({ code: 'tool-input-invalid', message: result.message }, undefined);
    const { id, name } = this.raw;
    const call = { id, name, input: result.input === undefined ? input : result.input, inputHash: result.hash };
    const parsed = { call, rawInput: input };
    this.byText.set(canonicalJson(input), parsed);
    // A parsed value means itself, whatever a schema would make of it.
    this.byText.set(canonicalJson(call.input), parsed);
    // A layer may still change a value that it made.
    if (call.input !== input || input === this.raw.input) this.byInput.set(frozen(call.input), parsed);
    return parsed;
  }
}

/** The call with the options of the layer. A decided call is noted. */
function decided(parsed: ParsedCall, { options }: ToolCall, { decision, key }: Frame): ParsedCall {
  const { call: known, rawInput } = parsed;
  const call = options === undefined ? known : { ...known, options: checkedToolOptions(options, known.name) };
  decision?.arrives(key, () => decidedOf(call));
  return call === known ? parsed : { call, rawInput };
}
