import { z } from 'zod';
import { defined } from '../../contract/defined';
import type { Part, StoredMessage } from '../../contract/messages/messages';

const key = 'openai-response';

export interface ResponseNote {
  readonly metadata?: Readonly<Record<string, string>>;
  /** `previous_response_id`. */
  readonly previous?: string;
}

const NoteText = z.object({ metadata: z.record(z.string(), z.string()).optional(), previous: z.string().optional() });

/** A text, because objects would go to the model's provider. */
export function withNote(parts: readonly Part[], note: ResponseNote): readonly Part[] {
  const [first, ...more] = parts;
  if (first === undefined || Object.keys(note).length === 0) return parts;
  return [{ ...first, extra: { [key]: JSON.stringify(note) } } as Part, ...more];
}

export function noteIn({ parts }: Pick<StoredMessage, 'parts'>): ResponseNote {
  const [first] = parts;
  const text = first !== undefined && 'extra' in first ? first.extra?.[key] : undefined;
  if (typeof text !== 'string') return {};
  try {
    const read = NoteText.safeParse(JSON.parse(text));
    return read.success ? defined(read.data) : {};
  } catch {
    return {};
  }
}
