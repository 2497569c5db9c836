import type { Json, JsonObject, Part } from '../../contract/messages/messages';

/** The worker middleware, and the tool by which the workflow side stores what it clears. */
export const reductionName = 'reduction';
export const offloadToolName = 'reduction_offload';

/** What the worker middleware is told. */
export interface TruncationOptions extends JsonObject {
  readonly rootDir: string;
  readonly readFileToolName: string;
  readonly maxLength: number;
  /** Tools whose results are not cut. */
  readonly exclude: readonly string[];
  /** Other bounds, by tool. */
  readonly maxLengths: { readonly [tool: string]: number };
}

/** Results that the workflow side clears, to be stored. Without a path one is made. */
export interface OffloadRequest extends JsonObject {
  readonly rootDir: string;
  readonly results: readonly OffloadItem[];
}

export interface OffloadItem extends JsonObject {
  readonly callId: string;
  /** Tells calls of the same id apart. */
  readonly place: string;
  readonly text: string;
  readonly path?: string;
}

/** Where a text is stored: what a provider calls a call may have any characters. */
export function offloadPath(rootDir: string, run: string, place: string, folder: 'trunc' | 'clear', callId: string): string {
  return [rootDir, segmentsOf(run), segmentsOf(place), folder, segment(callId)].join('/');
}

export function segmentsOf(path: string): string {
  return path.split('/').map(segment).join('/');
}

function segment(text: string): string {
  const encoded = encodeURIComponent(text);
  return /^\.*$/.test(encoded) ? `_${encoded}` : encoded;
}

/** What a result says, as the text that is stored of it. */
export function textOfOutput(output: Json, multipart: boolean): string {
  if (typeof output === 'string') return output;
  const parts = multipart ? (output as unknown as readonly Part[]) : [];
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return parts.length > 0 && texts.length === parts.length ? texts.join('\n') : JSON.stringify(output);
}

export function clearedNotice(path: string, readFileToolName: string): string {
  return `<persisted-output>Tool result saved to: ${path}\nUse ${readFileToolName} to view</persisted-output>`;
}

export const clearedPlaceholder = '[Old tool result content cleared]';
