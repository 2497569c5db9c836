import { externalCallIn } from '../../contract/external-calls';
import type { Interrupt } from '../../contract/interrupts';
import { noWorkerText } from '../../contract/no-worker';
import { askedAt, askedText } from '../../contract/who-may-answer';
import { interruptLines } from '../event-lines';
import { commandsFor } from '../next-commands';
import { isAskable } from '../../client/listing/list-options';
import type { InterruptQuery, RunQuery } from '../../client/http/index';
import type { FoundService } from '../found-service';
import type { ListedInterrupt, ListedRun } from '../../contract/service';
import { commandLine } from '../../contract/shell-words';
import { exitCodes, writeJson, writeTable, type JsonFlag } from '../output';
import { oneLine, type Terminal } from '../terminal';
import { relativeTime, roughly, timeText } from '../times';

export interface FilterFlags extends JsonFlag, Omit<InterruptQuery, 'limit'> {
  readonly limit?: string;
  readonly wide?: boolean;
}

export type StartFilters = Pick<FilterFlags, 'agent' | 'tag' | 'startedBy' | 'since' | 'until'>;

export interface RunListFlags extends FilterFlags {
  readonly status?: string;
  readonly ids?: boolean;
  readonly parent?: string;
}

const longestAsk = 60;

export function asWritten(filters: object): RunQuery {
  return filters;
}

export async function listRuns(service: FoundService, terminal: Terminal, flags: RunListFlags): Promise<number> {
  const { json, wide, ids, ...filters } = flags;
  if (ids === true) {
    for (const { id } of (await service.list(asWritten(filters))).runs) terminal.write(id);
    return exitCodes.done;
  }
  // The server counts only by values of a query.
  const { tag = [], startedBy = '', mayAnswer, waitingSince } = flags;
  const isCounted = mayAnswer === undefined && waitingSince === undefined && [...tag, startedBy].every(isAskable);
  const answer = await service.list({ ...asWritten(filters), ...(isCounted ? { total: true } : {}) });
  if (json === true) return writeJson(terminal, answer);
  const { runs, total } = answer;
  if (runs.length === 0) terminal.write('There are no such runs.');
  else {
    const [rowOf, head] = wide === true ? [wideRow, wideHead] : [shortRow, shortHead];
    const now = Date.now();
    const rows = runs.map((run) => rowOf(run, now));
    writeTable(terminal, rows, head);
  }
  if (answer.noWorker !== undefined) terminal.write(terminal.paint.yellow(noWorkerText(answer.noWorker)));
  const counted = `${runs.length}${total === undefined ? '' : ` of ${total.toLocaleString('en')}`} runs`;
  writeMore(terminal, service, { ...answer, command: 'list', flags: { ...filters, wide }, counted });
  return exitCodes.done;
}

const shortHead = ['RUN', 'AGENT', 'STATUS', 'STARTED', 'WAITS FOR'];
const wideHead = ['RUN', 'AGENT', 'STATUS', 'STARTED', 'ENDED', 'BY', 'TAGS', 'WAITS FOR'];

function shortRow(run: ListedRun, now: number): readonly string[] {
  const { id, agent, status, startedAt } = run;
  return [id, agent, status, relativeTime(Date.parse(startedAt), now), waits(run, now)];
}

function wideRow(run: ListedRun, now: number): readonly string[] {
  const { id, agent, status, startedAt, closedAt, startedBy, tags = [] } = run;
  const ended = closedAt === undefined ? '-' : timeText(closedAt);
  return [id, agent, status, timeText(startedAt), ended, startedBy ?? '-', tags.join(', ') || '-', waits(run, now)];
}

function waits({ interrupts, waitingSince }: ListedRun, now: number): string {
  const what = interrupts.map(waitsFor).join(', ');
  return waitingSince === undefined ? what : `${what} (${roughly(now - Date.parse(waitingSince))})`;
}

function waitsFor(interrupt: Interrupt): string {
  if (interrupt.kind === 'approval') return `approval of ${interrupt.tool}`;
  const call = externalCallIn(interrupt);
  return call === undefined ? interrupt.kind : `result of ${call.tool}`;
}

export async function inbox(service: FoundService, terminal: Terminal, flags: FilterFlags): Promise<number> {
  const now = Date.now();
  const { json, wide, ...filters } = flags;
  const answer = await service.interrupts(asWritten(filters));
  if (json === true) return writeJson(terminal, answer);
  const { interrupts } = answer;
  if (interrupts.length === 0) terminal.write('Nothing waits for a decision.');
  else if (wide === true) for (const row of interrupts) showInboxRow(terminal, service, row, now);
  else {
    const rows = interrupts.map((row) => inboxRow(row, now));
    writeTable(terminal, rows, ['RUN', 'AGENT', 'WAITS', 'UNTIL', 'FOR', 'ASKS']);
    terminal.write(
      terminal.paint.dim(`Each with its commands: ${commandLine('inbox', ...wordsOf({ ...filters, wide: true }), ...service.flags)}`),
    );
  }
  writeMore(terminal, service, { ...answer, command: 'inbox', flags: { ...filters, wide }, counted: `${interrupts.length} interrupts` });
  return exitCodes.done;
}

function inboxRow({ runId, waitingSince, interrupt }: ListedInterrupt, now: number): readonly string[] {
  const { agent, deadline } = interrupt;
  return [
    runId,
    agent,
    waitingSince === undefined ? '-' : roughly(now - Date.parse(waitingSince)),
    deadline === undefined ? '-' : relativeTime(deadline, now),
    askedText(askedAt(interrupt, now)),
    asks(interrupt),
  ];
}

function asks(interrupt: Interrupt): string {
  if (interrupt.kind === 'approval') return `${oneLine(interrupt.tool)} ${oneLine(interrupt.input, longestAsk)}`;
  const call = externalCallIn(interrupt);
  if (call !== undefined) return `result of ${oneLine(call.tool)} ${oneLine(call.input, longestAsk)}`;
  return `${interrupt.kind}: ${oneLine(interrupt.info, longestAsk)}`;
}

function showInboxRow(terminal: Terminal, service: FoundService, row: ListedInterrupt, now: number): void {
  const { runId, agent, waitingSince, startedBy, tags = [], interrupt } = row;
  const facts = [
    ...(waitingSince === undefined ? [] : [`since ${timeText(waitingSince)} (${roughly(now - Date.parse(waitingSince))})`]),
    ...(startedBy === undefined ? [] : [`started by ${oneLine(startedBy)}`]),
    ...(tags.length === 0 ? [] : [`tags ${oneLine(tags.join(', '))}`]),
  ];
  terminal.write(`${terminal.paint.bold(runId)}${facts.length === 0 ? '' : terminal.paint.dim(`  ${facts.join(', ')}`)}`);
  for (const line of interruptLines(interrupt, terminal, agent)) terminal.write(line);
  for (const command of commandsFor(runId, interrupt, service)) terminal.write(`  ${command}`);
}

interface ShownList {
  readonly command: string;
  readonly flags: object;
  readonly counted: string;
  readonly more?: boolean;
  readonly next?: string;
}

function writeMore(terminal: Terminal, service: FoundService, { command, flags, counted, more, next }: ShownList): void {
  if (more !== true || next === undefined) return;
  terminal.write(terminal.paint.dim(`${counted} are shown.`));
  terminal.write(`more: ${commandLine(command, ...wordsOf({ ...flags, after: next }), ...service.flags)}`);
}

function wordsOf(flags: object): readonly string[] {
  return Object.entries(flags).flatMap(([name, value]: [string, unknown]) => {
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    if (value === undefined) return [];
    if (value === true) return [flag];
    return (Array.isArray(value) ? value : [value]).flatMap((one) => [flag, String(one)]);
  });
}
