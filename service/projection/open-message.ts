import type { Json, Part, StoredMessage } from '../../contract/messages/messages';
import type { ShownStep } from './steps';

interface OpenCall {
  readonly tool: string;
  input: string;
  isOpen: boolean;
  /** How much of its arguments comes again. */
  repeated: number;
}

type Kind = 'text' | 'reasoning';

/** What is shown so far of the answer of one model call. */
export class OpenMessage {
  private readonly shown: Record<Kind, string> = { text: '', reasoning: '' };
  private open: Kind | undefined;
  /** How much of what comes has been shown already. */
  private readonly repeated: Record<Kind, number> = { text: 0, reasoning: 0 };
  private readonly calls = new Map<string, OpenCall>();

  constructor(
    readonly id: string,
    private readonly of: { readonly agent: string; readonly runPath: readonly string[] },
  ) {}

  get isEmpty(): boolean {
    return this.shown.text === '' && this.shown.reasoning === '' && this.calls.size === 0;
  }

  isOf(runPath: readonly string[]): boolean {
    return this.of.runPath.join('/') === runPath.join('/');
  }

  /** The same attempt is told again from its beginning, to a reader that has come back. */
  repeat(): void {
    for (const kind of ['text', 'reasoning'] as const) this.repeated[kind] = this.shown[kind].length;
    for (const call of this.calls.values()) call.repeated = call.input.length;
  }

  /** A piece as it comes in. */
  *hear(kind: Kind, piece: string): Generator<ShownStep, void, void> {
    const known = Math.min(this.repeated[kind], piece.length);
    this.repeated[kind] -= known;
    yield* this.say(kind, piece.slice(known));
  }

  private *say(kind: Kind, text: string): Generator<ShownStep, void, void> {
    if (text === '') return;
    if (this.open !== kind) {
      yield* this.closeText();
      this.open = kind;
      yield { ...this.of, step: `${kind}-start`, id: this.id };
    }
    this.shown[kind] += text;
    yield { ...this.of, step: kind, id: this.id, text };
  }

  *beginCall(callId: string, tool: string): Generator<ShownStep, void, void> {
    if (this.calls.has(callId)) return;
    yield* this.closeText();
    this.calls.set(callId, { tool, input: '', isOpen: true, repeated: 0 });
    yield { ...this.of, step: 'call-start', id: this.id, callId, tool };
  }

  *hearInput(callId: string, piece: string): Generator<ShownStep, void, void> {
    const call = this.calls.get(callId);
    if (call === undefined) return;
    const known = Math.min(call.repeated, piece.length);
    call.repeated -= known;
    yield* this.callInput(callId, piece.slice(known));
  }

  private *callInput(callId: string, text: string): Generator<ShownStep, void, void> {
    const call = this.calls.get(callId);
    if (call?.isOpen !== true || text === '') return;
    call.input += text;
    yield { ...this.of, step: 'call-input', callId, text };
  }

  /** False: what is shown is no part of the message, and has to be void. */
  fits(message: StoredMessage): boolean {
    const calls = message.parts.filter((part) => part.type === 'tool-call');
    return (
      (['text', 'reasoning'] as const).every((kind) => wholeOf(kind, message.parts).startsWith(this.shown[kind])) &&
      [...this.calls].every(([callId, { tool, input }]) =>
        calls.some((call) => call.id === callId && call.name === tool && restOfInput(input, call.input) !== undefined),
      )
    );
  }

  /** Shows what of the message is not shown yet, and closes all. */
  *complete(message: StoredMessage): Generator<ShownStep, void, void> {
    for (const kind of ['reasoning', 'text'] as const) yield* this.say(kind, wholeOf(kind, message.parts).slice(this.shown[kind].length));
    yield* this.closeText();
    for (const part of message.parts) {
      if (part.type !== 'tool-call') continue;
      yield* this.beginCall(part.id, part.name);
      yield* this.callInput(part.id, restOfInput(this.calls.get(part.id)?.input ?? '', part.input) ?? '');
      yield* this.closeCall(part.id);
    }
  }

  *close(): Generator<ShownStep, void, void> {
    yield* this.closeText();
    for (const callId of this.calls.keys()) yield* this.closeCall(callId);
  }

  private *closeText(): Generator<ShownStep, void, void> {
    const { open } = this;
    if (open === undefined) return;
    this.open = undefined;
    yield { ...this.of, step: `${open}-end`, id: this.id };
  }

  private *closeCall(callId: string): Generator<ShownStep, void, void> {
    const call = this.calls.get(callId);
    if (call?.isOpen !== true) return;
    call.isOpen = false;
    yield { ...this.of, step: 'call-end', callId };
  }
}

function wholeOf(kind: Kind, parts: readonly Part[]): string {
  return parts.reduce((text, part) => (part.type === kind ? text + part.text : text), '');
}

/** What is missing of the arguments. Undefined: others were shown. A provider writes the same JSON with other spaces. */
function restOfInput(shown: string, input: Json): string | undefined {
  const whole = JSON.stringify(input);
  if (whole.startsWith(shown)) return whole.slice(shown.length);
  try {
    return JSON.stringify(JSON.parse(shown)) === whole ? '' : undefined;
  } catch {
    return undefined;
  }
}
