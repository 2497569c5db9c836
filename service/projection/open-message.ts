import type { Json, Part, StoredMessage } from '../../contract/messages/messages';
import type { OfAgent, PieceKind, ShownStep } from './steps';

interface OpenCall {
  readonly tool: string;
  input: string;
  isOpen: boolean;
  /** Characters of the arguments that the reader gets again. */
  repeated: number;
}

export class OpenMessage {
  private readonly shown: Record<PieceKind, string> = { text: '', reasoning: '' };
  private open: PieceKind | undefined;
  /** Next characters that the reader knows. */
  private readonly repeated: Record<PieceKind, number> = { text: 0, reasoning: 0 };
  private readonly calls = new Map<string, OpenCall>();

  constructor(
    readonly id: string,
    private readonly of: OfAgent,
  ) {}

  get isEmpty(): boolean {
    return this.shown.text === '' && this.shown.reasoning === '' && this.calls.size === 0;
  }

  isOf(runPath: readonly string[]): boolean {
    return this.of.runPath.join('/') === runPath.join('/');
  }

  /** A reader that came back gets an attempt's deltas again from the first. */
  repeat(): void {
    for (const kind of ['text', 'reasoning'] as const) this.repeated[kind] = this.shown[kind].length;
    for (const call of this.calls.values()) call.repeated = call.input.length;
  }

  *hear(kind: PieceKind, piece: string): Generator<ShownStep, void, void> {
    const known = Math.min(this.repeated[kind], piece.length);
    this.repeated[kind] -= known;
    yield* this.say(kind, piece.slice(known));
  }

  private *say(kind: PieceKind, text: string): Generator<ShownStep, void, void> {
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

  /** False: the shown pieces are not in the message, and must become void. */
  fits(message: StoredMessage): boolean {
    const calls = message.parts.filter((part) => part.type === 'tool-call');
    return (
      (['text', 'reasoning'] as const).every((kind) => wholeOf(kind, message.parts).startsWith(this.shown[kind])) &&
      [...this.calls].every(([callId, { tool, input }]) =>
        calls.some((call) => call.id === callId && call.name === tool && restOfInput(input, call.input) !== undefined),
      )
    );
  }

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

function wholeOf(kind: PieceKind, parts: readonly Part[]): string {
  return parts.reduce((text, part) => (part.type === kind ? text + part.text : text), '');
}

/** Undefined: other arguments were shown. A provider may write the same JSON with other spaces. */
function restOfInput(shown: string, input: Json): string | undefined {
  const whole = JSON.stringify(input);
  if (whole.startsWith(shown)) return whole.slice(shown.length);
  try {
    return JSON.stringify(JSON.parse(shown)) === whole ? '' : undefined;
  } catch {
    return undefined;
  }
}
