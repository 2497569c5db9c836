import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError } from '../../contract/errors';
import type { RetriedCall } from '../../contract/events';
import { isEnded } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import { exitCodes } from '../attend-run';
import { interruptLines } from '../event-lines';
import { commandsFor } from '../next-commands';
import type { ServiceClient } from '../service-client';
import type { Terminal } from '../terminal';
import { oneLine, printable } from '../terminal';

/** With `json` a command prints what the service answered, for programs. */
export interface JsonFlag {
  readonly json?: boolean;
}

export async function listRuns(
  service: ServiceClient,
  terminal: Terminal,
  flags: JsonFlag & { status?: string; agent?: string; parent?: string; limit?: string },
): Promise<number> {
  const { status, agent, parent, limit } = flags;
  const answer = await service.list({ status, agent, parent, limit });
  if (flags.json === true) return json(terminal, answer);
  if (answer.runs.length === 0) terminal.write('There are no such runs.');
  table(
    terminal,
    answer.runs.map((run) => [
      run.id,
      run.agent,
      run.status,
      run.startedAt.slice(0, 19).replace('T', ' '),
      run.interrupts.map(waitsFor).join(', '),
    ]),
  );
  return exitCodes.done;
}

export async function showRun(service: ServiceClient, terminal: Terminal, id: string, flags: JsonFlag): Promise<number> {
  const view = await service.view(id);
  if (flags.json === true) return json(terminal, view);
  const { usage, error, output } = view;
  table(terminal, [
    ['run', view.id],
    ['agent', view.agent],
    ['status', view.status],
    ['tokens', `${usage.inputTokens} in, ${usage.outputTokens} out`],
    ...(error === undefined ? [] : [['error', `${error.code}: ${error.message}`]]),
    ...(view.retrying ?? []).map((call) => ['retries', retryLine(call)]),
  ]);
  if (output !== undefined) terminal.write(`\n${printable(typeof output === 'string' ? output : JSON.stringify(output, null, 2))}`);
  for (const interrupt of view.interrupts) showInterrupt(terminal, service, id, interrupt, view.agent);
  return exitCodes.done;
}

/** One event a line, as JSON. */
export async function printEvents(
  service: ServiceClient,
  terminal: Terminal,
  id: string,
  flags: { from?: string; follow?: boolean },
): Promise<number> {
  let from = Number(flags.from ?? 0);
  if (flags.from !== undefined && !/^\d{1,15}$/.test(flags.from))
    throw new HoldfastError('request-invalid', `--from is '${flags.from}'. It must be the offset of an event: a whole number from 0.`);
  for (;;) {
    const { nextOffset, status } = await service.view(id);
    if (from > nextOffset)
      throw new HoldfastError('request-invalid', `--from is '${from}', and the next event of this run has the offset ${nextOffset}.`);
    if (from >= nextOffset && (isEnded(status) || flags.follow !== true)) return exitCodes.done;
    for await (const event of service.events(id, from, 'end')) {
      terminal.write(JSON.stringify(event));
      from = event.offset + 1;
      if (flags.follow !== true && from >= nextOffset) return exitCodes.done;
    }
    await delay(200);
  }
}

export async function inbox(service: ServiceClient, terminal: Terminal, flags: JsonFlag): Promise<number> {
  const answer = await service.inbox();
  if (flags.json === true) return json(terminal, answer);
  if (answer.interrupts.length === 0) terminal.write('Nothing waits for a decision.');
  for (const { runId, interrupt } of answer.interrupts) {
    terminal.write(terminal.paint.bold(runId));
    showInterrupt(terminal, service, runId, interrupt);
  }
  return exitCodes.done;
}

export async function listAgents(service: ServiceClient, terminal: Terminal, flags: JsonFlag): Promise<number> {
  const answer = await service.agents();
  if (flags.json === true) return json(terminal, answer);
  table(
    terminal,
    answer.agents.map(({ name, description }) => [name, description]),
  );
  return exitCodes.done;
}

function retryLine({ address, attempt, nextAttemptAt, error }: RetriedCall): string {
  return `${address}: attempt ${attempt} at ${new Date(nextAttemptAt).toISOString()}, after ${error.code}: ${error.message}`;
}

function showInterrupt(terminal: Terminal, service: ServiceClient, runId: string, interrupt: Interrupt, root?: string): void {
  for (const line of interruptLines(interrupt, terminal, root)) terminal.write(line);
  for (const command of commandsFor(runId, interrupt, service.flags)) terminal.write(`  ${command}`);
}

function waitsFor(interrupt: Interrupt): string {
  return interrupt.kind === 'approval' ? `approval of ${interrupt.tool}` : interrupt.kind;
}

function json(terminal: Terminal, value: unknown): number {
  terminal.write(JSON.stringify(value, null, 2));
  return exitCodes.done;
}

function table(terminal: Terminal, rows: readonly (readonly string[])[]): void {
  const cells = rows.map((row) => row.map((cell) => oneLine(cell)));
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  for (const row of cells)
    terminal.write(
      row
        .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    );
}
