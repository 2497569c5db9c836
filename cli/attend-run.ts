import { defined } from '../contract/defined';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf } from '../contract/errors';
import type { Interrupt } from '../contract/interrupts';
import { askDecision } from './ask-decision';
import { EventLines, interruptLines } from './event-lines';
import { commandsFor } from './next-commands';
import { reportFailure } from './report-error';
import type { ServiceClient, ShownRun } from './service-client';
import type { Terminal } from './terminal';

export const exitCodes = { done: 0, failed: 1, waiting: 2 } as const;

export interface Attendance {
  readonly id: string;
  /** Offset of the first event to show. */
  readonly from: number;
  /** Who answers. */
  readonly by?: string;
  /** Interrupts that were answered already, and may still show until a worker takes the answer. */
  readonly answered?: readonly string[];
}

/** Shows a run until it ends, asking whoever sits there when it waits. Returns the exit code. */
export async function attendRun(service: ServiceClient, terminal: Terminal, attendance: Attendance): Promise<number> {
  const { id, by } = attendance;
  const lines = new EventLines(terminal);
  const answered = new Set(attendance.answered);
  let from = attendance.from;
  for (;;) {
    const view = await follow(service, terminal, lines, id, from);
    from = view.nextOffset;
    if (view.status !== 'waiting') return ended(view, lines, terminal);
    const open = view.interrupts.filter((interrupt) => !answered.has(interrupt.id));
    const next = open[0];
    if (next === undefined) {
      terminal.write('The answer is stored. It counts as soon as a worker runs.');
      return exitCodes.waiting;
    }
    for (const line of interruptLines(next, terminal, view.agent)) terminal.write(line);
    if (!terminal.interactive) {
      for (const other of open.slice(1)) for (const line of interruptLines(other, terminal, view.agent)) terminal.write(line);
      return later(attendance, open, service, terminal);
    }
    const asked = await askDecision(next, terminal);
    if (asked === 'later') return later(attendance, open, service, terminal);
    try {
      await service.answer(id, next.id, { ...asked.body, ...defined({ by }) });
      answered.add(next.id);
    } catch (error) {
      const code = codeOf(error);
      if (code === undefined || !askAgain.includes(code)) throw error;
      reportFailure({ code, message: (error as Error).message }, terminal);
    }
  }
}

/** After these the run still waits, or somebody else was faster: look again. */
const askAgain: readonly string[] = ['answer-invalid', 'answer-stale', 'interrupt-answered', 'interrupt-expired', 'interrupt-withdrawn'];

const patienceMs = 15_000;

/** Shows events until the run waits or has ended. A service that restarts meanwhile is waited for. */
async function follow(service: ServiceClient, terminal: Terminal, lines: EventLines, id: string, start: number): Promise<ShownRun> {
  let from = start;
  let lostAt: number | undefined;
  for (;;) {
    try {
      const events = terminal.live ? service.liveEvents(id, from, 'waiting') : service.events(id, from, 'waiting');
      for await (const event of events) {
        lines.show(event);
        from = event.offset === undefined ? from : event.offset + 1;
      }
      const view = await service.view(id);
      lines.break();
      if (view.status !== 'running' && view.nextOffset <= from) return view;
      lostAt = undefined;
    } catch (error) {
      lines.break();
      if (codeOf(error) !== 'service-unreachable' || Date.now() - (lostAt ?? Date.now()) > patienceMs) throw error;
      if (lostAt === undefined)
        terminal.writeError(
          terminal.paint.dim('The service is gone; waiting for it. The run is kept, and goes on as soon as a worker runs.'),
        );
      lostAt ??= Date.now();
    }
    await delay(200);
  }
}

function ended(view: ShownRun, lines: EventLines, terminal: Terminal): number {
  if (view.status === 'completed') {
    terminal.write();
    terminal.write(lines.usageLine(view.id, view.usage));
    return exitCodes.done;
  }
  const fallback =
    view.status === 'cancelled'
      ? { code: 'cancelled', message: `The run ${view.id} was cancelled.` }
      : { code: 'run-failed', message: `The run ${view.id} failed.` };
  reportFailure(view.error ?? fallback, terminal);
  return exitCodes.failed;
}

function later({ id, by }: Attendance, open: readonly Interrupt[], service: ServiceClient, terminal: Terminal): number {
  terminal.write();
  terminal.write(`The run ${id} waits. Decide with:`);
  for (const interrupt of open) for (const command of commandsFor(id, interrupt, service.flags, by)) terminal.write(`  ${command}`);
  return exitCodes.waiting;
}
