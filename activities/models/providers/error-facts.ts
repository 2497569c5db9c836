import { defined } from '../../../contract/defined';
import type { ErrorCode } from '../../../contract/errors';
import { messageOf, thrownCodeOf } from '../../../contract/errors';
import type { AskedModel } from '../asked-model';
import { askedModelOf } from '../asked-model';

export interface ErrorFacts {
  readonly own?: { readonly code: ErrorCode; readonly retryable?: boolean };
  readonly status?: number;
  readonly names: readonly string[];
  /** Types, codes and states of systems and providers, in lower case. */
  readonly words: ReadonlySet<string>;
  readonly message: string;
  readonly cause?: string;
  readonly asked?: AskedModel;
  readonly flag?: boolean;
  readonly retryAfterMs?: number;
}

type ErrorFields = Readonly<Record<string, unknown>>;

const deepest = 6;
const longestWait = 10 * 60_000;

export function factsOf(error: unknown): ErrorFacts {
  const links = linksOf(error);
  const bodies = links.map(bodyOf);
  const first = <T>(pick: (link: ErrorFields) => T | undefined): T | undefined => {
    for (const link of links) {
      const found = pick(link);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const own = first(ownOf);
  const asked = first(askedModelOf);
  const status = first((link) => statusIn(link, 'statusCode') ?? statusIn(link, 'status') ?? statusIn(link, 'code'));
  const flag = first((link) => (typeof link['isRetryable'] === 'boolean' ? link['isRetryable'] : undefined));
  const retryAfterMs = first(waitOf);
  const message = saidBy(error, bodies);
  const innermost = links.at(-1);
  const cause = links.length > 1 && innermost !== undefined ? messageOf(innermost) : undefined;
  return {
    names: links.map((link) => (typeof link['name'] === 'string' ? link['name'] : '')),
    words: new Set([...links, ...bodies].flatMap(wordsIn)),
    message,
    ...defined({ own, asked, status, flag }),
    ...(cause === undefined || message.includes(cause) ? {} : { cause }),
    ...defined({ retryAfterMs }),
  };
}

function linksOf(error: unknown): readonly ErrorFields[] {
  const links: ErrorFields[] = [];
  let link = error;
  while (isFields(link) && links.length < deepest) {
    links.push(link);
    link = link['cause'] ?? link['lastError'];
  }
  return links;
}

function ownOf(link: ErrorFields): ErrorFacts['own'] {
  const code = thrownCodeOf(link);
  if (code === undefined) return undefined;
  const retryable = isFields(link['details']) ? link['details']['retryable'] : undefined;
  return typeof retryable === 'boolean' ? { code, retryable } : { code };
}

/** Clients pass the body on parsed or as text, and Google sometimes wraps the error into a list. */
function bodyOf(link: ErrorFields): ErrorFields {
  for (const value of [link['data'], parsed(link['responseBody'])]) {
    const body = Array.isArray(value) ? (value[0] as unknown) : value;
    if (!isFields(body)) continue;
    const response = isFields(body['response']) ? body['response'] : body;
    return isFields(response['error']) ? response['error'] : body;
  }
  return isFields(link['error']) ? link['error'] : {};
}

function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function wordsIn(fields: ErrorFields): readonly string[] {
  return ['type', 'code', 'status'].flatMap((key) => {
    const value = fields[key];
    return typeof value === 'string' ? [value.toLowerCase()] : [];
  });
}

/** Never returns a whole body, which may repeat the request. */
function saidBy(error: unknown, bodies: readonly ErrorFields[]): string {
  const own = messageOf(error);
  const said = bodies
    .flatMap((body) => [body['message'], body['detail'], body['error']])
    .find((text): text is string => typeof text === 'string' && text !== '');
  if (said === undefined || own.includes(said)) return own;
  return own === '' ? said : `${own}: ${said}`;
}

function waitOf(link: ErrorFields): number | undefined {
  if (ownOf(link) !== undefined && isFields(link['details'])) return countIn(link['details'], 'retryAfterMs');
  const header = (name: string): string | undefined => {
    for (const headers of [link['responseHeaders'], link['headers']]) {
      if (!isFields(headers)) continue;
      const value = headerIn(headers, name);
      if (typeof value === 'string' || typeof value === 'number') return String(value);
    }
    return undefined;
  };
  const milliseconds = countOf(header('retry-after-ms'));
  const text = header('retry-after');
  const body = typeof link['responseBody'] === 'string' ? link['responseBody'] : '';
  const seconds = countOf(text) ?? countOf(/"retryDelay"\s*:\s*"([\d.]+)s"/.exec(body)?.[1]);
  const wait = milliseconds ?? (seconds === undefined ? dateOf(text) : seconds * 1000);
  return wait === undefined || wait <= 0 ? undefined : Math.min(Math.round(wait), longestWait);
}

/** Custom models may write header names in any case. */
function headerIn(headers: ErrorFields, name: string): unknown {
  if (typeof headers['get'] === 'function') return (headers as unknown as Headers).get(name);
  return Object.entries(headers).find(([one]) => one.toLowerCase() === name)?.[1];
}

function countOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}

function countIn(fields: ErrorFields, key: string): number | undefined {
  const value = fields[key];
  return typeof value === 'number' && value > 0 ? value : undefined;
}

function dateOf(text: string | undefined): number | undefined {
  const date = text === undefined || !/[a-z]/i.test(text) ? NaN : Date.parse(text);
  return Number.isNaN(date) ? undefined : date - Date.now();
}

/** Some providers put the status of an error in a stream into `code`. */
function statusIn(fields: ErrorFields, key: string): number | undefined {
  const value = fields[key];
  return typeof value === 'number' && value >= (key === 'code' ? 400 : 100) && value < 600 ? value : undefined;
}

function isFields(value: unknown): value is ErrorFields {
  return typeof value === 'object' && value !== null;
}
