import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { temporal } from '@temporalio/proto';
import type { Type } from 'protobufjs';
import { fromJson, toJson } from 'protobufjs/ext/protojson';
import { HoldfastError, messageOf } from '../../contract/errors';

const historyType = temporal.api.history.v1.History;
const historyForm = historyType as unknown as Type;

export type History = temporal.api.history.v1.IHistory;

type Started = temporal.api.history.v1.IWorkflowExecutionStartedEventAttributes;

export interface HistoryFile {
  /** The file's name without extension, and a number for further histories: `refund.2`. */
  readonly id: string;
  readonly place: string;
  readonly path: string;
  readonly history: History;
}

/** Reads a file, a folder, or a pattern with `*` and `**`, in order of paths. */
export async function readHistories(pattern: string): Promise<readonly HistoryFile[]> {
  const paths = await matchingFiles(pattern);
  if (paths.length === 0) throw new HoldfastError('request-invalid', `No history matches ${pattern}.`);
  return (await Promise.all(paths.map(historiesAt))).flat();
}

async function historiesAt(path: string): Promise<readonly HistoryFile[]> {
  const histories = await historiesIn(path).catch((cause: unknown) => {
    throw new HoldfastError('request-invalid', `${path} is not a history that was saved as JSON: ${messageOf(cause)}`, { cause });
  });
  if (histories.length === 0 || histories.some((history) => startOf(history) === undefined))
    throw new HoldfastError('request-invalid', `${path} is not a history: its first event must be the start of a workflow.`);
  const [file, name] = [basename(path), basename(path, '.json')];
  return histories.map((history, n) =>
    histories.length === 1
      ? { id: name, place: file, path, history }
      : { id: `${name}.${n + 1}`, place: `${file}, history ${n + 1} of ${histories.length}`, path, history },
  );
}

async function historiesIn(path: string): Promise<readonly History[]> {
  const saved = JSON.parse(await readFile(path, 'utf8')) as unknown;
  return (Array.isArray(saved) ? saved : [saved]).map((one) => fromJson(historyForm, one, { ignoreUnknownFields: true }) as History);
}

export function startOf(history: History): Started | undefined {
  return history.events?.[0]?.workflowExecutionStartedEventAttributes ?? undefined;
}

/** Writes the format of Temporal's tools; several histories become a list. */
export async function writeHistories(path: string, histories: readonly History[]): Promise<void> {
  const [text = '', ...more] = histories.map((history) => JSON.stringify(toJson(historyForm, historyType.fromObject(history)), null, 2));
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, more.length === 0 ? `${text}\n` : `[${[text, ...more].join(',\n')}]\n`);
}

async function matchingFiles(pattern: string): Promise<readonly string[]> {
  const whole = resolve(pattern);
  const segments = whole.split(sep);
  const fixed = segments.findIndex((segment) => segment.includes('*'));
  if (fixed === -1 && !(await isFolder(whole))) return [whole];
  const folder = fixed === -1 ? whole : segments.slice(0, fixed).join(sep);
  const wanted = expressionOf(fixed === -1 ? '**/*.json' : segments.slice(fixed).join('/'));
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => wanted.test(relative(folder, path).split(sep).join('/')))
    .sort();
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    throw new HoldfastError('request-invalid', `There is no history at ${path}.`, { cause: error });
  }
}

function expressionOf(pattern: string): RegExp {
  const source = pattern
    .split(/(\*\*\/|\*)/)
    .map((piece) => (piece === '**/' ? '(?:.*/)?' : piece === '*' ? '[^/]*' : piece.replace(/[.+?^${}()|[\]\\]/g, '\\$&')));
  return new RegExp(`^${source.join('')}$`);
}
