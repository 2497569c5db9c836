import type { Json, JsonObject, Part } from '../../contract/messages/messages';

export const reductionName = 'reduction';
export const offloadToolName = 'reduction_offload';

export interface TruncationOptions extends JsonObject {
  readonly rootDir: string;
  readonly readFileToolName: string;
  readonly maxLength: number;
  readonly exclude: readonly string[];
  readonly maxLengths: { readonly [tool: string]: number };
}

export interface OffloadRequest extends JsonObject {
  readonly rootDir: string;
  readonly results: readonly OffloadItem[];
}

export interface OffloadItem extends JsonObject {
  readonly callId: string;
  readonly place: string;
  readonly text: string;
  readonly path?: string;
}

type Offloaded = Pick<OffloadItem, 'place' | 'callId'>;

export function offloadPath(rootDir: string, run: string, folder: 'trunc' | 'clear', { place, callId }: Offloaded): string {
  return [rootDir, segmentsOf(run), segmentsOf(place), folder, segment(callId)].join('/');
}

export function segmentsOf(path: string): string {
  return path.split('/').map(segment).join('/');
}

function segment(text: string): string {
  const encoded = encodeURIComponent(text);
  return /^\.*$/.test(encoded) ? `_${encoded}` : encoded;
}

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
