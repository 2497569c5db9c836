import { readFileSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { messageOf } from '../../contract/errors';

/** Where in the source of a project something went wrong. */
export interface PlaceInSource {
  /** From the working directory: file and line, and the column where a compiler says it. */
  readonly at: string;
  /** The line itself. */
  readonly source: string;
}

const own = resolve(__dirname, '..', '..') + sep;

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

/** Columns of a stack are those of the compiled code. */
function placeIn(text: string, hasColumns = true): PlaceInSource | undefined {
  for (const [, url = '', line = '', column] of text.matchAll(/((?:file:\/\/)?(?:\/|[A-Za-z]:\\)[^\s:()'"]+):(\d+)(?::(\d+))?/g)) {
    const file = url.replace(/^file:\/\//, '');
    if (!isAbsolute(file) || file.includes(`${sep}node_modules${sep}`) || file.startsWith(own)) continue;
    const source = lineOf(file, Number(line));
    if (source === undefined) continue;
    return {
      at: `${relative(process.cwd(), file)}:${line}${column === undefined || !hasColumns ? '' : `:${column}`}`,
      source: `${line} | ${source}`,
    };
  }
  return undefined;
}

function lineOf(file: string, line: number): string | undefined {
  try {
    return readFileSync(file, 'utf8').split('\n')[line - 1]?.trimEnd();
  } catch {
    return undefined;
  }
}
