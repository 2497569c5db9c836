import type { ModelChunk } from '../../../activities/models/language-model';
import type { JsonObject } from '../../../contract/messages/messages';
import type { Piece, RedactedTexts } from '../redacted-texts';
import type { Redactor } from '../redactor';

export type TextChunk = ModelChunk & { readonly type: 'text' | 'reasoning' };

interface PartRun {
  readonly texts: RedactedTexts;
  readonly parts: TextPart[];
}

interface TextPart {
  readonly like: TextChunk;
  readonly run: PartRun;
  readonly extras: JsonObject[];
  context: string;
  late?: RedactedTexts;
}

export class RedactedAnswer {
  private readonly parts: TextPart[] = [];
  private last: TextPart | undefined;

  constructor(private readonly redactor: Redactor) {}

  *take(chunk: TextChunk): Generator<ModelChunk> {
    const known = this.partOf(chunk);
    if (known === undefined && this.last?.like.block === undefined) yield* this.endOpen();
    const part = known ?? this.begin(chunk);
    if (chunk.extra !== undefined) part.extras.push(chunk.extra);
    const pieces = this.push(part, chunk.text);
    // Even an empty piece counts: the first piece places the text in the answer.
    if (known === undefined) yield { ...part.like, text: '' };
    yield* pieces;
  }

  *endOpen(): Generator<ModelChunk> {
    const { last } = this;
    this.last = undefined;
    if (last !== undefined && last.like.block === undefined) yield* this.endRun(last.run);
  }

  *endAll(): Generator<ModelChunk> {
    for (const run of new Set(this.parts.map((part) => part.run))) yield* this.endRun(run);
  }

  private partOf({ type, block }: TextChunk): TextPart | undefined {
    if (block !== undefined) return this.parts.find(({ like }) => like.block === block && like.type === type);
    return this.last?.like.type === type && this.last.like.block === undefined ? this.last : undefined;
  }

  private begin({ extra: _, ...like }: TextChunk): TextPart {
    const before = this.parts.at(-1);
    const follows = this.last !== undefined && before === this.last && before.like.type === like.type && like.block !== undefined;
    const run = follows ? before.run : { texts: this.redactor.stream(), parts: [] };
    if (follows) before.context = run.texts.next();
    const part: TextPart = { like, run, extras: [], context: '' };
    run.parts.push(part);
    this.parts.push(part);
    this.last = part;
    return part;
  }

  private push(part: TextPart, text: string): readonly ModelChunk[] {
    if (part === part.run.parts.at(-1)) return shown(part.run.texts.push(text), part.run);
    part.late ??= this.redactor.stream(part.context);
    return part.late.push(text).map((piece) => ({ ...part.like, text: piece.text }));
  }

  private *endRun(run: PartRun): Generator<ModelChunk> {
    yield* shown(run.texts.end(), run);
    for (const [position, { like, late, extras }] of run.parts.entries()) {
      for (const piece of late?.end() ?? []) yield { ...like, text: piece.text };
      // A signature does not fit changed text.
      if (run.texts.changed.has(position) || (late?.changed.size ?? 0) > 0) continue;
      for (const extra of extras) yield { ...like, text: '', extra };
    }
    this.parts.splice(0, this.parts.length, ...this.parts.filter((part) => part.run !== run));
  }
}

function shown(pieces: readonly Piece[], run: PartRun): readonly ModelChunk[] {
  return pieces.flatMap(({ of, text }) => {
    const part = run.parts[of];
    return part === undefined || text === '' ? [] : [{ ...part.like, text }];
  });
}
