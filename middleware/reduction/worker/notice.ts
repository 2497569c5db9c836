/** What a model sees of a text that is too long for it. */
interface Notice {
  /** Bytes of the whole text. */
  readonly bytes: number;
  /** Where the whole text is, or why it is nowhere. */
  readonly saved: { readonly path: string } | { readonly problem: string };
  /** Previews, or what was seen of the text already. */
  readonly said: readonly string[];
  readonly readFileToolName: string;
}

export function noticeOf({ bytes, saved, said, readFileToolName }: Notice): string {
  const where = 'path' in saved ? `Full output saved to: ${saved.path}` : `Failed to save full output: ${saved.problem}.`;
  return [
    '<persisted-output>',
    `Output too large (${bytes}). ${where}`,
    ...said,
    ...('path' in saved ? [`Use ${readFileToolName} to view the rest.`] : []),
    '</persisted-output>',
  ].join('\n');
}

/** The beginning and the end of a text, so many bytes each, as whole characters. */
export function previewsOf(text: string, bytesEach: number): readonly string[] {
  if (Buffer.byteLength(text) <= 2 * bytesEach) return [text];
  const head = headOf(text, bytesEach);
  const tail = tailOf(text, bytesEach);
  return [`Preview (first ${Buffer.byteLength(head)}):`, head, `Preview (last ${Buffer.byteLength(tail)}):`, tail];
}

export function headOf(text: string, mostBytes: number): string {
  const bytes = Buffer.from(text).subarray(0, Math.max(0, mostBytes));
  // A decoder of a stream holds back the beginning of a character.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });
}

export function tailOf(text: string, mostBytes: number): string {
  const bytes = Buffer.from(text);
  let begin = Math.max(0, bytes.length - Math.max(0, mostBytes));
  while (isInside(bytes[begin])) begin += 1;
  return bytes.toString('utf8', begin);
}

/** Not the first byte of a character. */
function isInside(byte = 0): boolean {
  return (byte & 0xc0) === 0x80;
}
