import { defined } from '../../../contract/defined';
import type { JsonObject, Part } from '../../../contract/messages/messages';
import type { Piece, RedactedTexts } from '../redacted-texts';
import type { Redactor } from '../redactor';

type RedactedTextPart = Part & { readonly type: 'text' };

interface Slot {
  readonly extra?: JsonObject;
  text: string;
}

export class RedactedParts {
  private texts: RedactedTexts | undefined;
  private slots: Slot[] = [];
  private shown = 0;

  constructor(private readonly redactor: Redactor) {}

  *take(part: Part): Generator<Part> {
    if (part.type !== 'text') {
      yield* this.end();
      yield part;
      return;
    }
    const last = this.slots.at(-1);
    if (this.texts === undefined) this.texts = this.redactor.stream();
    else if (last?.extra !== undefined || part.extra !== undefined) this.texts.next();
    if (last === undefined || last.extra !== undefined || part.extra !== undefined)
      this.slots.push({ text: '', ...defined({ extra: part.extra }) });
    yield* this.show(this.texts.push(part.text));
  }

  *end(): Generator<Part> {
    if (this.texts === undefined) return;
    yield* this.show(this.texts.end());
    yield* this.showUpTo(this.slots.length);
    this.texts = undefined;
    this.slots = [];
    this.shown = 0;
  }

  private *show(pieces: readonly Piece[]): Generator<RedactedTextPart> {
    for (const { of, text } of pieces) {
      yield* this.showUpTo(of);
      const slot = this.slots[of] as Slot;
      if (slot.extra !== undefined) slot.text += text;
      else if (text !== '') yield { type: 'text', text };
    }
  }

  private *showUpTo(end: number): Generator<RedactedTextPart> {
    for (; this.shown < end; this.shown++) {
      const { extra, text } = this.slots[this.shown] as Slot;
      if (extra === undefined) continue;
      if (this.texts?.changed.has(this.shown) !== true) yield { type: 'text', text, extra };
      else if (text !== '') yield { type: 'text', text };
    }
  }
}
