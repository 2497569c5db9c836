interface Notice {
  /** Of the whole text. */
  readonly bytes: number;
  readonly saved: { readonly path: string } | { readonly problem: string };
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

/** Whole characters only. */
export function previewsOf(text: string, bytesEach: number): readonly string[] {
  if (Buffer.byteLength(text) <= 2 * bytesEach) return [text];
  const head = headOf(text, bytesEach);
  const tail = tailOf(text, bytesEach);
  return [`Preview (first ${Buffer.byteLength(head)}):`, head, `Preview (last ${Buffer.byteLength(tail)}):`, tail];
}

export function headOf(text: string, mostBytes: number): string {
  const bytes = Buffer.from(text).subarray(0, Math.max(0, mostBytes));
  // With `stream` a decoder holds back a character that is cut.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });
}

export function tailOf(text: string, mostBytes: number): string {
  const bytes = Buffer.from(text);
  let begin = Math.max(0, bytes.length - Math.max(0, mostBytes));
  while (isInside(bytes[begin])) begin += 1;
  return bytes.toString('utf8', begin);
}

function isInside(byte = 0): boolean {
  return (byte & 0xc0) === 0x80;
}
