import { posix } from 'node:path';
import type { RE2JS } from 're2js';
import { HoldfastError, messageOf } from '../../../contract/errors';
import type { LinearExpression } from '../../../host/linear-pattern';
import { linearOf } from '../../../host/linear-pattern';
import type { FileBackend } from './backend';
import { checkedPath } from './backend';
import { globMatcher } from './glob';

export interface GrepRequest {
  readonly pattern: string;
  readonly path?: string | undefined;
  readonly glob?: string | undefined;
  readonly ignoreCase?: boolean | undefined;
  readonly multiline?: boolean | undefined;
  readonly before?: number | undefined;
  readonly after?: number | undefined;
}

export interface GrepLine {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  readonly fits: boolean;
}

/** A search blocks the worker. `work`: characters times parts of the expression, for one file. */
const most = { entries: 50_000, depth: 40, milliseconds: 10_000, millisecondsOfNames: 2_000, pattern: 2_000, work: 2_000_000_000 };

export async function filesBelow(backend: FileBackend, path: string): Promise<readonly string[]> {
  const files: string[] = [];
  let seen = 0;
  const walk = async (folder: string, depth: number): Promise<void> => {
    if (depth > most.depth) return;
    for (const entry of await backend.list(folder)) {
      if (++seen > most.entries) throw new Error(`There are more than ${most.entries} files below "${path}". Search in a folder below it.`);
      if (entry.kind === 'file') files.push(entry.path);
      else if (entry.link !== true) await walk(entry.path, depth + 1);
    }
  };
  await walk(checkedPath(path), 0);
  return files;
}

export async function glob(backend: FileBackend, pattern: string, path: string): Promise<readonly string[]> {
  const folder = checkedPath(path);
  const wanted = pattern.startsWith('/') ? pattern.slice(1) : pattern;
  const fits = globMatcher(wanted);
  const files = await filesBelow(backend, folder);
  return filtered(files, (file) => fits(posix.relative(pattern.startsWith('/') ? '/' : folder, file)));
}

function filtered(files: readonly string[], fits: (file: string) => boolean): readonly string[] {
  const until = Date.now() + most.millisecondsOfNames;
  return files.filter((file) => {
    if (Date.now() > until) throw tooLong();
    return fits(file);
  });
}

export async function grep(backend: FileBackend, request: GrepRequest, signal?: AbortSignal): Promise<readonly GrepLine[]> {
  const expression = expressionOf(request);
  const files = await filesToSearch(backend, request);
  const until = Date.now() + most.milliseconds;
  const lines: GrepLine[] = [];
  for (const path of files) {
    signal?.throwIfAborted();
    const text = await textOrNothing(backend, path);
    if (text === undefined) continue;
    for (const line of linesOf({ path, text }, expression, request, until)) lines.push(line);
  }
  const name = (path: string): string => posix.basename(path);
  const compared = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  return lines.sort((a, b) => compared(name(a.path), name(b.path)) || compared(a.path, b.path) || a.line - b.line);
}

function expressionOf({ pattern, ignoreCase = false, multiline = false }: GrepRequest): LinearExpression {
  const refuse = (problem: string): never => {
    throw new HoldfastError('tool-input-invalid', `The pattern ${problem}`);
  };
  if (pattern === '') return refuse('is empty.');
  if (pattern.length > most.pattern) return refuse(`has ${pattern.length} signs; at most ${most.pattern} are taken.`);
  try {
    const expression = linearOf(pattern, { ignoreCase, multiline: true, dotAll: multiline });
    return expression ?? refuse('cannot be searched for: look-around and back-references are not taken, nor is a very large pattern.');
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
    return refuse(`is no regular expression: ${messageOf(error)}`);
  }
}

async function filesToSearch(backend: FileBackend, { path = '/', glob: pattern }: GrepRequest): Promise<readonly string[]> {
  const start = checkedPath(path);
  const files = (await isFile(backend, start)) ? [start] : await filesBelow(backend, start);
  if (pattern === undefined || pattern === '') return files;
  const fits = globMatcher(pattern);
  return filtered(files, (file) => fits(pattern.includes('/') ? posix.relative(start, file) : posix.basename(file)));
}

async function isFile(backend: FileBackend, path: string): Promise<boolean> {
  if (path === '/') return false;
  const siblings = await backend.list(posix.dirname(path));
  return siblings.some((entry) => entry.path === path && entry.kind === 'file');
}

async function textOrNothing(backend: FileBackend, path: string): Promise<string | undefined> {
  try {
    return await backend.read(path);
  } catch {
    return undefined;
  }
}

function linesOf(
  { path, text }: { readonly path: string; readonly text: string },
  { engine, parts }: LinearExpression,
  request: GrepRequest,
  until: number,
): readonly GrepLine[] {
  const { before = 0, after = 0, multiline = false } = request;
  if (text.length * parts > most.work)
    throw new HoldfastError(
      'tool-input-invalid',
      `The pattern is too large for the ${text.length} characters of "${path}". Write fewer repetitions, or search in other files.`,
    );
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const fitting = multiline ? linesOfMatches(text, engine, until) : fittingLines(lines, engine, until);
  const shown = new Set<number>();
  for (const line of fitting) for (let near = line - before; near <= line + after; near++) shown.add(near);
  return [...shown]
    .filter((line) => line >= 0 && line < lines.length)
    .map((line) => ({ path, line: line + 1, text: lines[line] ?? '', fits: fitting.has(line) }));
}

function fittingLines(lines: readonly string[], engine: RE2JS, until: number): ReadonlySet<number> {
  const fitting = new Set<number>();
  lines.forEach((line, position) => {
    if (Date.now() > until) throw tooLong();
    if (engine.test(line)) fitting.add(position);
  });
  return fitting;
}

function linesOfMatches(text: string, engine: RE2JS, until: number): ReadonlySet<number> {
  const fitting = new Set<number>();
  const matches = engine.matcher(text);
  let [line, counted] = [0, 0];
  while (matches.find()) {
    if (Date.now() > until) throw tooLong();
    for (; counted < matches.start(); counted++) if (text[counted] === '\n') line += 1;
    const last = line + (text.slice(matches.start(), matches.end()).match(/\n/g)?.length ?? 0);
    for (let one = line; one <= last; one++) fitting.add(one);
  }
  return fitting;
}

function tooLong(): HoldfastError {
  return new HoldfastError('tool-timeout', 'The search took too long. Search for something simpler, or in fewer files.');
}
