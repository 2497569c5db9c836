import type { Json, ToolCall } from '../contract/plain/messages';
import { canonicalJson } from '../contract/plain/messages';
import type { Frame, Soon } from './frames';
import { frozen } from './freeze';
import { meaningOf } from './meanings';
import { checkedToolOptions } from './run-options';
import type { AgentScope } from './scope';
import { ToolError } from './tool-call';

export interface ParsedCall {
  readonly call: ToolCall;
  readonly rawInput: Json;
}

/** What each value of the arguments means to the tool: parsed once, wherever in the layers it first appears, and there at once after that. */
export class ParsedCalls {
  private readonly byText = new Map<string, ParsedCall>();
  /** Arguments that nobody can change any more: a layer that hands them on spares their comparison. */
  private readonly byInput = new Map<Json, ParsedCall>();

  constructor(
    private readonly scope: AgentScope,
    private readonly raw: ToolCall,
  ) {}

  parsed(requested: ToolCall, frame: Frame): Soon<ParsedCall> {
    const { input } = requested;
    const handedOn = this.byInput.get(input);
    if (handedOn !== undefined) return decided(handedOn, requested, frame);
    const text = canonicalJson(input);
    const known = this.byText.get(text);
    return known !== undefined
      ? decided(known, requested, frame)
      : this.parse(input, text, frame).then((parsed) => decided(parsed, requested, frame));
  }

  private async parse(input: Json, text: string, frame: Frame): Promise<ParsedCall> {
    const { id, name } = this.raw;
    const parsed = { call: await parse(this.scope, { id, name, input }, text, frame), rawInput: input };
    const { call } = parsed;
    this.byText.set(text, parsed);
    // What was parsed means itself, whatever a schema would make of it the second time.
    this.byText.set(canonicalJson(call.input), parsed);
    // What a layer made itself is its own: it may still change it.
    if (call.input !== input || input === this.raw.input) this.byInput.set(frozen(call.input), parsed);
    return parsed;
  }
}

async function parse(scope: AgentScope, call: ToolCall, text: string, frame: Frame): Promise<ToolCall> {
  const known = meaningOf(scope, call.name, text);
  const result = await frame.effect('parse', () =>
    known === undefined ? scope.run.ports.parseInput(call.name, call.input) : Promise.resolve(known),
  );
  if (!result.ok) throw new ToolError({ code: 'tool-input-invalid', message: result.message }, undefined);
  return { ...call, input: result.input === undefined ? call.input : result.input, inputHash: result.hash };
}

/** The call with the options that the layer handed on, and, where a person decided about it, the note what that was. */
function decided(parsed: ParsedCall, { options }: ToolCall, { decision }: Frame): ParsedCall {
  const { call: known, rawInput } = parsed;
  const call = options === undefined ? known : { ...known, options: checkedToolOptions(options, known.name) };
  if (decision?.handedOn === true) {
    decision.handedOn = false;
    decision.hash = call.inputHash;
    decision.options = textOfOptions(call);
  }
  return call === known ? parsed : { call, rawInput };
}

export function textOfOptions({ options }: ToolCall): string {
  return options === undefined ? '' : canonicalJson(options);
}
