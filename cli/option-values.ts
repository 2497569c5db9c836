import type { Command } from 'commander';
import { durationProblem } from '../contract/duration';
import { HoldfastError } from '../contract/errors';

/** An empty value is most often an unset shell variable. */
export function filled(option: string): (value: string) => string {
  return (value) => {
    if (value.trim() !== '') return value;
    throw new HoldfastError('command-invalid', `${option} is empty; give it a value, or leave it out.`);
  };
}

export function several(parse: (value: string) => string = (value) => value) {
  return (value: string, others: readonly string[] = []): readonly string[] => [...others, parse(value)];
}

export function lasting(option: string): (value: string) => string {
  return (value) => {
    const problem = durationProblem(filled(option)(value));
    if (problem === undefined) return value;
    throw new HoldfastError('command-invalid', `${option} "${value}" ${problem}.`);
  };
}

export const config = ['-c, --config <file>', 'configuration file (default: holdfast.config.ts here)'] as const;
export const by = ['--by <name>', 'your name', filled('--by')] as const;
export const json = ['--json', 'print JSON'] as const;
export const noFollow = ['--no-follow', 'do not follow the run'] as const;
export const deadline = ['--deadline <time>', 'time after which an unfinished run fails, for example 30d', lasting('--deadline')] as const;
export const role = ['--role <role>', 'a role of the name; repeatable', several(filled('--role'))] as const;

export function startFilters(command: Command): Command {
  return command
    .option('--agent <agent>', 'runs of the agent', filled('--agent'))
    .option('--tag <tag>', 'runs with the tag; repeatable', several(filled('--tag')))
    .option('--started-by <name>', 'runs that the name started', filled('--started-by'))
    .option('--since <time>', 'runs since the time: 2h, 3d, 2026-11-23 or 2026-11-23T08:00:00Z', filled('--since'))
    .option('--until <time>', 'runs before the time', filled('--until'));
}
