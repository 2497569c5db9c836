import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils';
import type { temporal } from '@temporalio/proto';
import { HoldfastError, messageOf } from '../../contract/errors';

export type History = temporal.api.history.v1.IHistory;

type Started = temporal.api.history.v1.IWorkflowExecutionStartedEventAttributes;

export interface HistoryFile {
  /** The file's name without its end. */
  readonly id: string;
  readonly path: string;
  readonly history: History;
}

/** Histories in JSON files: a file, a folder, or a pattern with `*` and `**`. In order of their paths. */
export async function readHistories(pattern: string): Promise<readonly HistoryFile[]> {
  const paths = await matchingFiles(pattern);
  if (paths.length === 0) throw new HoldfastError('request-invalid', `No history matches ${pattern}.`);
  return Promise.all(paths.map(readHistory));
}

async function readHistory(path: string): Promise<HistoryFile> {
  const history = await historyIn(path).catch((cause: unknown) => {
    throw new HoldfastError('request-invalid', `${path} is not a history that was saved as JSON: ${messageOf(cause)}`, { cause });
  });
  if (startOf(history) === undefined)
    throw new HoldfastError('request-invalid', `${path} is not a history: its first event must be the start of a workflow.`);
  return { id: basename(path, '.json'), path, history };
}

async function historyIn(path: string): Promise<History> {
  return historyFromJSON(JSON.parse(await readFile(path, 'utf8')));
}

/** What a workflow was started with. */
export function startOf(history: History): Started | undefined {
  return history.events?.[0]?.workflowExecutionStartedEventAttributes ?? undefined;
}

export async function writeHistory(path: string, history: History): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${historyToJSON(history)}\n`);
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
