import type { Context } from 'hono';
import { z } from 'zod';
import { HoldfastError, codeOf, messageOf } from '../../contract/errors';
import { limits } from '../../contract/limits';
import { notJson } from '../../contract/messages/messages';
import { shown } from '../../contract/shown';
import { similarNames } from '../../contract/similar-names';

/** Escapes and white space make a body larger than its input. */
const bodyLimit = 2 * limits.runInput;
const depthLimit = 200;

export async function parseBody<T>(context: Context, schema: z.ZodType<T>, most = bodyLimit): Promise<T> {
  checkType(context, 'application/json');
  const text = decodedText(await readBytes(context, most));
  return parse(schema, text.trim() === '' ? {} : parseJson(text, 'The body'), 'The body');
}

/** Reads the fields of a form of a page of the service. Of a repeated field, the first counts. */
export async function parseForm(context: Context, most: number): Promise<(field: string) => string> {
  checkType(context, 'application/x-www-form-urlencoded');
  const fields = new URLSearchParams(decodedText(await readBytes(context, most)));
  return (field) => (fields.get(field) ?? '').replaceAll('\r\n', '\n');
}

/** Only types that a page of another site cannot send without a preflight request, or forms of own pages. */
export function checkType(context: Context, ...wanted: readonly string[]): void {
  const contentType = context.req.header('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (contentType === undefined || !wanted.includes(contentType))
    throw new HoldfastError('request-invalid', `Send the body as ${wanted.join(' or ')}, not as ${contentType ?? 'nothing'}.`);
  const encoding = context.req.header('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity')
    throw new HoldfastError('request-invalid', `Send the body as it is, without the content encoding ${encoding}.`);
}

/** Only a parameter with a list may repeat. */
export function parseQuery<T>(context: Context, schema: z.ZodType<T>): T {
  const shape: Readonly<Record<string, z.ZodType>> = schema instanceof z.ZodObject ? schema.shape : {};
  const query: [string, string | readonly string[]][] = [];
  for (const [name, [value, ...more]] of Object.entries(context.req.queries())) {
    const isList = Object.hasOwn(shape, name) && isArray(shape[name]);
    if (more.length > 0 && !isList) throw new HoldfastError('request-invalid', `The query has "${name}" more than once.`);
    if (name === '__proto__') throw new HoldfastError('request-invalid', 'The query has "__proto__", which no route takes.');
    if (value !== undefined) query.push([name, isList ? [value, ...more] : value]);
  }
  const known = Object.keys(shape);
  const stranger = query.find(([name]) => !known.includes(name))?.[0];
  if (stranger !== undefined) throw new HoldfastError('request-invalid', `The query has ${shown(stranger)}. ${taken(stranger, known)}`);
  return parse(schema, Object.fromEntries(query), 'The query');
}

function isArray(schema: unknown): boolean {
  return schema instanceof z.ZodOptional ? isArray(schema.unwrap()) : schema instanceof z.ZodArray;
}

/** An unknown filter would have no effect, and the answer would be wrong. */
function taken(stranger: string, known: readonly string[]): string {
  const [meant] = similarNames(stranger, known);
  if (meant !== undefined) return `Did you mean ${meant}?`;
  return known.length === 0 ? 'This route takes no parameters.' : `This route takes ${known.join(', ')}.`;
}

export function parse<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`,
  );
  throw new HoldfastError('request-invalid', `${what} is not what this route takes: ${issues.join('; ')}.`);
}

/** Stops at the limit, or at a header that announces a larger body. */
export async function readBytes(context: Context, most: number): Promise<Buffer> {
  const encoding = context.req.header('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity')
    throw new HoldfastError('request-invalid', `Send the body as it is, without the content encoding ${encoding}.`);
  const announced = Number(context.req.header('content-length') ?? 0);
  if (announced > most) throw tooLarge(announced, most);
  const body = context.req.raw.body;
  if (body === null) return Buffer.alloc(0);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength;
      if (bytes > most) throw tooLarge(bytes, most);
      chunks.push(chunk);
    }
  } catch (error) {
    if (codeOf(error) !== undefined) throw error;
    throw new HoldfastError('request-invalid', `The body broke off after ${bytes} bytes.`, { cause: error });
  }
  return Buffer.concat(chunks);
}

export function decodedText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new HoldfastError('request-invalid', 'The body is no text in UTF-8, as JSON is.', { cause: error });
  }
}

function tooLarge(bytes: number, most: number): HoldfastError {
  return new HoldfastError('input-too-large', `The body has ${bytes} bytes or more; at most ${most} are read.`);
}

export function parseJson(text: string, what: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new HoldfastError('request-invalid', `${what} is no JSON: ${messageOf(error)}`);
  }
  if (deeperThan(value, depthLimit)) throw new HoldfastError('request-invalid', `${what} is nested deeper than ${depthLimit} levels.`);
  const problem = notJson(value);
  if (problem !== undefined) throw new HoldfastError('request-invalid', `${what} cannot be taken: ${problem}.`);
  return value;
}

function deeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => deeperThan(item, levels - 1));
}
