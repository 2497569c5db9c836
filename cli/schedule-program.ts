import type { Command } from 'commander';
import type { BackfillRequest } from '../client/http/requests';
import { filled, json } from './option-values';
import type { JsonFlag } from './output';
import { serviceCommands } from './service-command';
import type { Terminal } from './terminal';

type Named = readonly [schedule: string];

export function addScheduleCommands(program: Command, terminal: Terminal, exit: (code: number) => void): void {
  const load = () => import('./commands/schedule-commands.js');
  const toService = serviceCommands(program.command('schedules').description('Schedules that start runs.'), terminal, exit);
  toService('list', 'Lists the schedules with their next times.', (command) => command.option(...json))(
    async (service, _, flags: JsonFlag) => (await load()).listSchedules(service, terminal, flags),
  );
  toService('show <schedule>', 'Shows a schedule with its next times and last runs.', (command) => command.option(...json))(
    async (service, [name]: Named, flags: JsonFlag) => (await load()).showSchedule(service, terminal, name, flags),
  );
  toService('pause <schedule>', 'Pauses a schedule.', (command) =>
    command.option('--note <text>', 'reason, for other people', filled('--note')),
  )(async (service, [name]: Named, flags: { readonly note?: string }) => (await load()).pauseSchedule(service, terminal, name, flags));
  for (const [usage, description, act] of [
    ['resume', 'Ends the pause of a schedule.', 'resumeSchedule'],
    ['run', 'Starts a run of a schedule now.', 'runSchedule'],
    ['delete', 'Deletes a schedule. Its runs stay.', 'deleteSchedule'],
  ] as const)
    toService(
      `${usage} <schedule>`,
      description,
    )(async (service, [name]: Named) => (await load()).changeSchedule(service, terminal, name, { act }));
  toService('backfill <schedule>', 'Starts the runs of past times.', (command) =>
    command
      .requiredOption('--since <time>', 'times since the time: 2h, 3d, 2026-11-23 or 2026-11-23T08:00:00Z', filled('--since'))
      .requiredOption('--until <time>', 'times before the time', filled('--until')),
  )(async (service, [name]: Named, flags: BackfillRequest) => (await load()).backfillSchedule(service, terminal, name, flags));
}
