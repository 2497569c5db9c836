import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

export interface Conditions {
  readonly taskTimeout: string;
  /** Runs in the worker's cache. Default: the worker's. */
  readonly cache?: number;
  /** Milliseconds between queries of a run. Absent: no queries. */
  readonly queries?: { readonly least: number; readonly most: number };
  readonly loops: boolean;
  readonly stops: boolean;
  readonly kills: boolean;
}

export interface StormSettings {
  readonly seeds: number;
  readonly from: number;
  readonly atOnce: number;
  readonly folder: string;
  readonly conditions: Conditions;
}

export const stopMs = 12_000;

export function settingsIn(given: readonly string[], root: string): StormSettings {
  const { values } = parseArgs({
    args: [...given],
    allowNegative: true,
    options: {
      seeds: { type: 'string', default: '1000' },
      from: { type: 'string', default: '0' },
      'at-once': { type: 'string', default: '8' },
      cache: { type: 'string' },
      'task-timeout': { type: 'string', default: '1s' },
      queries: { type: 'string', default: '50-300' },
      loops: { type: 'boolean', default: true },
      stops: { type: 'boolean', default: true },
      kills: { type: 'boolean', default: true },
      folder: { type: 'string', default: join(root, '.holdfast-storm') },
    },
  });
  const [least, most] = values.queries.split('-').map(Number);
  const queries = values.queries === 'none' ? undefined : { least: number(least, 'queries'), most: number(most ?? least, 'queries') };
  return {
    seeds: number(values.seeds, 'seeds'),
    from: number(values.from, 'from'),
    atOnce: number(values['at-once'], 'at-once'),
    folder: values.folder,
    conditions: {
      taskTimeout: values['task-timeout'],
      ...(values.cache === undefined ? {} : { cache: number(values.cache, 'cache') }),
      ...(queries === undefined ? {} : { queries }),
      loops: values.loops,
      stops: values.stops,
      kills: values.kills,
    },
  };
}

function number(given: unknown, name: string): number {
  const value = Number(given);
  if (!Number.isInteger(value) || value < 0) throw new Error(`--${name} takes a whole number. It is ${String(given)}.`);
  return value;
}

export function wordsOf({ taskTimeout, cache, queries, loops, stops, kills }: Conditions): string {
  return [
    `workflow tasks of ${taskTimeout}`,
    cache === undefined ? 'the default cache' : `a cache of ${cache}`,
    queries === undefined ? 'no queries' : `queries every ${queries.least}-${queries.most} ms`,
    loops ? `${availableParallelism()} busy cores` : 'idle cores',
    stops ? `stops of ${stopMs / 1000} s` : 'no stops',
    kills ? 'kills' : 'no kills',
  ].join(', ');
}
