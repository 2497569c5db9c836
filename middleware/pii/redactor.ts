import type { Json, Message, Part } from '../../contract/messages/messages';
import { isPartList } from '../../contract/messages/messages';
import type { Piece } from './redacted-texts';
import { RedactedTexts } from './redacted-texts';
import { Replacer } from './replacer';
import type { Rule } from './rules';

export class Redactor {
  private readonly replacer: Replacer;

  constructor(rules: readonly Rule[], source: string) {
    this.replacer = new Replacer(rules, source);
  }

  text(text: string): string {
    return this.texts([text])[0] ?? '';
  }

  texts(texts: readonly string[]): readonly string[] {
    const redacted = this.stream();
    const out = texts.map(() => '');
    const take = (pieces: readonly Piece[]): void => {
      for (const { of, text } of pieces) out[of] = (out[of] ?? '') + text;
    };
    texts.forEach((text, position) => {
      if (position > 0) redacted.next();
      take(redacted.push(text));
    });
    take(redacted.end());
    return out;
  }

  stream(context?: string): RedactedTexts {
    return new RedactedTexts(this.replacer, context);
  }

  message(message: Message, which: (part: Part) => boolean): Message {
    const parts = this.parts(message.parts, which);
    return parts === message.parts ? message : { ...message, parts };
  }

  parts(parts: readonly Part[], which: (part: Part) => boolean): readonly Part[] {
    const after: Part[] = [];
    for (let position = 0; position < parts.length;) {
      const part = parts[position] as Part;
      if (!which(part)) after.push(part);
      else if (!isSpoken(part)) after.push(this.messagePart(part));
      else {
        const together: SpokenPart[] = [part];
        for (let next = parts[position + 1]; next?.type === part.type && which(next); next = parts[position + together.length])
          together.push(next);
        after.push(...this.spoken(together));
        position += together.length;
        continue;
      }
      position += 1;
    }
    return after.length === parts.length && after.every((part, position) => part === parts[position]) ? parts : after;
  }

  /** An emptied part goes. A changed part loses its signature. */
  private spoken(parts: readonly SpokenPart[]): readonly Part[] {
    const texts = this.texts(parts.map(({ text }) => text));
    return parts.flatMap((part, position) => {
      const text = texts[position] ?? '';
      if (text === part.text) return [part];
      return text === '' ? [] : [{ type: part.type, text }];
    });
  }

  private messagePart(part: Part): Part {
    if (part.type === 'tool-call') {
      const input = this.json(part.input);
      return input === part.input ? part : { ...part, input };
    }
    if (part.type !== 'tool-result') return part;
    const isMultipart = part.multipart === true && isPartList(part.output);
    const output: Json = isMultipart ? this.parts(part.output, isSpoken) : this.json(part.output);
    return output === part.output ? part : { ...part, output };
  }

  json(value: Json): Json {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') {
      const said = String(value);
      const clean = this.text(said);
      return clean === said ? value : clean;
    }
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const before: readonly Json[] = value;
      const after = before.map((item) => this.json(item));
      return after.every((item, position) => item === before[position]) ? before : after;
    }
    const before = Object.entries(value as { readonly [key: string]: Json });
    const after = before.map(([key, item]) => [key, this.json(item)] as const);
    return after.every(([, item], position) => item === before[position]?.[1]) ? value : Object.fromEntries(after);
  }
}

type SpokenPart = Part & { readonly type: 'text' | 'reasoning' };

function isSpoken(part: Part): part is SpokenPart {
  return part.type === 'text' || part.type === 'reasoning';
}
