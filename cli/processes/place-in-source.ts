import { readFileSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defined } from '../../contract/defined';
import { messageOf } from '../../contract/errors';

/** Where in the source of a project something went wrong. */
export interface PlaceInSource {
  /** From the working directory: file and line, and the column where a compiler says it. */
  readonly at: string;
  /** The line itself. */
  readonly source: string;
}

/** What a person is told of a failure. */
export interface ToldFailure {
  readonly reason: string;
  readonly place?: PlaceInSource;
}

const own = resolve(__dirname, '..', '..') + sep;

/** A failure with its place in the source, where it has one. */
export function toldFailure(error: unknown): ToldFailure {
  const place = placeInSource(error);
  // What compilers add below is said by the place. Node adds who asked for a module.
  const [reason = ''] = messageOf(error).split(place === undefined ? /\n\s*Require stack:/ : '\n');
  return { reason: reason.trim(), ...defined({ place }) };
}

/** The place that an error names in its message, or else the first place of its stack in the project's own files. */
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

/** Columns of a stack are those of the compiled code. A path may have spaces, so that it begins wherever one can. */
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

/** Maps of sources name a path as a URL does, without its scheme. */
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
