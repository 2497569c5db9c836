import type { MaybePromise } from '../../contract/maybe-promise';
import type { Json, ToolCall } from '../../contract/messages/messages';
import { canonicalJson } from '../../contract/messages/messages';
import type { ParseInputResult } from '../../contract/record/wire';
import type { Frame } from '../effects/frames';
import { frozen } from '../../contract/freeze';
import { decidedOf } from '../hooks/agreed';
import { parsedArgumentOf } from '../run/parsed-arguments';
import { checkedToolOptions } from '../run/run-options';
import type { AgentScope } from '../run/scope';
import { ToolError } from '../effects/errors';

export interface ParsedCall {
  readonly call: ToolCall;
  readonly rawInput: Json;
}

/**
 * What each value of the arguments means to the tool: parsed once, wherever in the layers it first appears. Where the answer of the model
 * brought it along, it is there at once; so it is for all layers that hand on what they got.
 */
export class ParsedCalls {
  private readonly byText = new Map<string, ParsedCall>();
  /** Arguments that nobody can change any more: a layer that hands them on spares their comparison. */
  private readonly byInput = new Map<Json, ParsedCall>();
  private readonly waits: boolean;

  constructor(
    private readonly scope: AgentScope,
    private readonly raw: ToolCall,
  ) {
    this.waits = this.knownMeaning(raw.input, canonicalJson(raw.input)) === undefined;
  }

  parsed(requested: ToolCall, frame: Frame): MaybePromise<ParsedCall> {
    // After a continue-as-new, and in histories from before answers had it: the order of commands of parallel calls rests on how long each waits.
    if (this.waits) return this.later(requested, frame);
    const known = this.byInput.get(requested.input) ?? this.atOnce(requested.input, frame);
    return known === undefined ? this.later(requested, frame) : decided(known, requested, frame);
  }

  private atOnce(input: Json, frame: Frame): ParsedCall | undefined {
    const text = canonicalJson(input);
    const known = this.byText.get(text);
    if (known !== undefined) return known;
    const meaning = this.knownMeaning(input, text);
    if (meaning === undefined) return undefined;
    const result = frame.once('parse', () => meaning);
    return this.keep(input, result);
  }

  /** A tool that the run itself answers is asked itself, any other by what the answer of the model brought along. */
  private knownMeaning(input: Json, text: string): ParseInputResult | undefined {
    const { scope, raw } = this;
    return scope.agent.ownTools.get(raw.name)?.parse(input) ?? parsedArgumentOf(scope, raw.name, text);
  }

  private async later(requested: ToolCall, frame: Frame): Promise<ParsedCall> {
    return decided(await this.meaning(requested.input, frame), requested, frame);
  }

  private async meaning(input: Json, frame: Frame): Promise<ParsedCall> {
    return this.byText.get(canonicalJson(input)) ?? (await this.parse(input, frame));
  }

  private async parse(input: Json, frame: Frame): Promise<ParsedCall> {
    return this.keep(input, await frame.effect('parse', () => this.scope.run.ports.parseInput(frame.key, this.raw.name, input)));
  }

  private keep(input: Json, result: ParseInputResult): ParsedCall {
    if (!result.ok) throw new ToolError({ code: 'tool-input-invalid', message: result.message }, undefined);
    const { id, name } = this.raw;
    const call = { id, name, input: result.input === undefined ? input : result.input, inputHash: result.hash };
    const parsed = { call, rawInput: input };
    this.byText.set(canonicalJson(input), parsed);
    // What was parsed means itself, whatever a schema would make of it the second time.
    this.byText.set(canonicalJson(call.input), parsed);
    // What a layer made itself is its own: it may still change it.
    if (call.input !== input || input === this.raw.input) this.byInput.set(frozen(call.input), parsed);
    return parsed;
  }
}

/** The call with the options that the layer handed on, and, where a person decided about it, the note what that was. */
function decided(parsed: ParsedCall, { options }: ToolCall, { decision, key }: Frame): ParsedCall {
  const { call: known, rawInput } = parsed;
  const call = options === undefined ? known : { ...known, options: checkedToolOptions(options, known.name) };
  decision?.arrives(key, () => decidedOf(call));
  return call === known ? parsed : { call, rawInput };
}
