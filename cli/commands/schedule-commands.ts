import type { BackfillRequest } from '../../client/http/requests';
import { defined } from '../../contract/defined';
import type { ListedSchedule } from '../../contract/schedules';
import type { FoundService } from '../found-service';
import type { JsonFlag } from '../output';
import { exitCodes, told, writeJson, writeTable } from '../output';
import type { Terminal } from '../terminal';
import { timeText } from '../times';

type Act<Flags> = (service: FoundService, terminal: Terminal, name: string, flags: Flags) => Promise<number>;

export async function listSchedules(service: FoundService, terminal: Terminal, { json }: JsonFlag): Promise<number> {
  const schedules = await service.schedules();
  if (json === true) return writeJson(terminal, { schedules });
  if (schedules.length === 0) return told(terminal, 'There are no schedules.');
  const rows = schedules.map((one) => [one.name, one.agent, timesOf(one), nextOf(one), one.runs[0]?.id ?? '-']);
  writeTable(terminal, rows, ['NAME', 'AGENT', 'TIMES', 'NEXT', 'LAST RUN']);
  return exitCodes.done;
}

export const showSchedule: Act<JsonFlag> = async (service, terminal, name, { json }) => {
  const schedule = await service.schedule(name);
  if (json === true) return writeJson(terminal, schedule);
  const { agent, overlap, source, setBy, note, runs, skipped, missed, next } = schedule;
  const rows = [
    ['agent', agent],
    ['times', timesOf(schedule)],
    ['overlap', overlap],
    ['from', source === 'config' ? 'the configuration' : (setBy ?? 'a client')],
    ['state', schedule.paused ? 'paused' : 'active'],
    ...(note === undefined ? [] : [['note', note]]),
    ['next', next.map(timeText).join(', ') || 'never'],
    ['left out', `${skipped} at work, ${missed} server down`],
    ...runs.map(({ id }) => ['run', id]),
  ];
  writeTable(terminal, rows);
  return exitCodes.done;
};

function timesOf({ cron, every, zone }: ListedSchedule): string {
  return cron === undefined ? `every ${every ?? ''}` : `${cron} (${zone ?? 'UTC'})`;
}

function nextOf({ paused, next: [first] }: ListedSchedule): string {
  return paused ? 'paused' : first === undefined ? 'never' : timeText(first);
}

export const pauseSchedule: Act<{ readonly note?: string }> = async (service, terminal, name, { note }) => {
  await service.pauseSchedule(name, defined({ note }));
  return told(terminal, `The schedule ${name} is paused.`);
};

const done = {
  resumeSchedule: 'goes on.',
  runSchedule: 'starts a run, as its overlap allows.',
  deleteSchedule: 'is deleted. Its runs stay.',
} as const;

export const changeSchedule: Act<{ readonly act: keyof typeof done }> = async (service, terminal, name, { act }) => {
  await service[act](name);
  return told(terminal, `The schedule ${name} ${done[act]}`);
};

export const backfillSchedule: Act<BackfillRequest> = async (service, terminal, name, { since, until }) => {
  const { times } = await service.backfillSchedule(name, { since, until });
  return told(
    terminal,
    times === 0 ? `The schedule ${name} has no time in this range.` : `The schedule ${name} makes up for ${times} times.`,
  );
};
