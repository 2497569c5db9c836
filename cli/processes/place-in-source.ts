import { readFileSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defined } from '../../contract/defined';
import { messageOf } from '../../contract/errors';

export interface PlaceInSource {
  /** Relative file and line, with a compiler's column. */
  readonly at: string;
  readonly source: string;
}

interface ToldFailure {
  readonly reason: string;
  readonly place?: PlaceInSource;
}

const own = resolve(__dirname, '..', '..') + sep;

export function toldFailure(error: unknown): ToldFailure {
  const place = placeInSource(error);
  // The place replaces the lines of compilers. Node appends the requiring modules.
  const [reason = ''] = messageOf(error).split(place === undefined ? /\n\s*Require stack:/ : '\n');
  return { reason: reason.trim(), ...defined({ place }) };
}

export function placeInSource(error: unknown): PlaceInSource | undefined {
  for (let cause = error; cause !== undefined && cause !== null; cause = (cause as { cause?: unknown }).cause) {
    const stack = cause instanceof Error ? (cause.stack ?? '') : '';
    const place = placeIn(messageOf(cause)) ?? placeIn(stack, false);
    if (place !== undefined) return place;
    if (typeof cause !== 'object') return undefined;
  }
  return undefined;
}

const root = /file:\/\/|\/|[A-Za-z]:\\/g;
const rest = /^((?:file:\/\/|[A-Za-z]:\\)?[^:]+):(\d+)(?::(\d+))?/;

/** A stack has columns of compiled code. A path may have spaces. */
function placeIn(text: string, hasColumns = true): PlaceInSource | undefined {
  for (const part of text.split('\n')) {
    for (const { index } of part.matchAll(root)) {
      const [, url = '', line = '', column] = rest.exec(part.slice(index)) ?? [];
      for (const file of pathsOf(url)) {
        if (!isAbsolute(file) || file.includes(`${sep}node_modules${sep}`) || file.startsWith(own)) continue;
        const source = lineOf(file, Number(line));
        if (source === undefined) continue;
        return {
          at: `${relative(process.cwd(), file)}:${line}${column === undefined || !hasColumns ? '' : `:${column}`}`,
          source: `${line} | ${source}`,
        };
      }
    }
  }
  return undefined;
}

/** Source maps encode a path as a URL without its scheme. */
function pathsOf(named: string): readonly string[] {
  try {
    return named.startsWith('file://') ? [fileURLToPath(named)] : [...new Set([named, decodeURI(named)])];
  } catch {
    return [named];
  }
}

function lineOf(file: string, line: number): string | undefined {
  try {
    return readFileSync(file, 'utf8').split('\n')[line - 1]?.trimEnd();
  } catch {
    return undefined;
  }
}
