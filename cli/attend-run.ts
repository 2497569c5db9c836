import { defined } from '../contract/defined';
import { setTimeout as delay } from 'node:timers/promises';
import type { TurnStatus } from '../contract/conversations';
import { codeOf } from '../contract/errors';
import type { RunStatus } from '../contract/events';
import type { Interrupt } from '../contract/interrupts';
import { noWorkerText } from '../contract/no-worker';
import { mayAnswer } from '../contract/who-may-answer';
import { askDecision } from './ask-decision';
import { EventLines, interruptLines } from './event-lines';
import { commandsFor } from './next-commands';
import { reportFailure } from './report-error';
import { LostService } from './lost-service';
import { exitCodes } from './output';
import { commandLine } from '../contract/shell-words';
import type { FoundService } from './found-service';
import type { ShownRun } from '../contract/service';
import type { Terminal } from './terminal';

interface Attendance {
  readonly id: string;
  readonly from: number;
  readonly by?: string;
  readonly roles?: readonly string[];
  /** The view shows interrupts until a worker takes the answers. */
  readonly answered?: readonly string[];
  readonly turn?: number;
  readonly said?: string;
  readonly patienceMs?: number;
}

interface Attended {
  readonly exitCode: number;
  readonly from: number;
  readonly status: RunStatus;
}

/** Asks the person at the terminal when the run waits. Returns the exit code. */
export async function attendRun(service: FoundService, terminal: Terminal, attendance: Attendance): Promise<number> {
  return (await attend(service, terminal, attendance)).exitCode;
}

export async function attend(service: FoundService, terminal: Terminal, attendance: Attendance): Promise<Attended> {
  const { id, by, roles } = attendance;
  const lines = new EventLines(terminal);
  const answered = new Set(attendance.answered);
  let from = attendance.from;
  for (;;) {
    const followed = await follow(service, terminal, lines, { ...attendance, from });
    ({ from } = followed);
    const { view } = followed;
    const { status } = view;
    const leave = (exitCode: number): Attended => ({ exitCode, from, status });
    if (followed.turn !== undefined) return leave(followed.turn === 'failed' ? exitCodes.failed : exitCodes.done);
    if (status !== 'waiting') return leave(ended(view, lines, terminal));
    const open = view.interrupts.filter((interrupt) => !answered.has(interrupt.id));
    const next = open[0];
    if (next === undefined) {
      terminal.write('The answer is stored. It counts as soon as a worker runs.');
      return leave(exitCodes.waiting);
    }
    for (const shown of terminal.interactive ? [next] : open)
      for (const line of interruptLines(shown, terminal, view.agent)) terminal.write(line);
    // The service refuses an answer by anybody else.
    const mayAsk = terminal.interactive && (by === undefined || mayAnswer(next, { by, ...defined({ roles }) }, Date.now()));
    const asked = mayAsk ? await askDecision(next, terminal) : 'later';
    if (asked === 'later') return leave(later(attendance, open, service, terminal));
    try {
      await service.answer(id, next.id, { ...asked.body, ...defined({ by, roles }) });
      answered.add(next.id);
    } catch (error) {
      const code = codeOf(error);
      if (code === undefined || !askAgain.includes(code)) throw error;
      reportFailure({ code, message: (error as Error).message }, terminal);
    }
  }
}

/** After these refusals the run still waits, or another person was faster. */
const askAgain: readonly string[] = ['answer-invalid', 'answer-stale', 'interrupt-answered', 'interrupt-expired', 'interrupt-withdrawn'];

interface Followed {
  readonly view: ShownRun;
  readonly from: number;
  readonly turn?: TurnStatus;
}

/** A restarting service is waited for. */
async function follow(service: FoundService, terminal: Terminal, lines: EventLines, attendance: Attendance): Promise<Followed> {
  const { id, turn, said } = attendance;
  let { from } = attendance;
  const again = turn === undefined ? commandLine('events', id, '--follow', ...service.flags) : commandLine('show', id, ...service.flags);
  const lost = new LostService(terminal, again, attendance.patienceMs);
  const goesOn = turn === undefined ? 'The run goes on. Follow it with' : 'The turn goes on. See it with';
  const forget = terminal.ifInterrupted(`${goesOn}: ${again}`);
  const explain = async (): Promise<void> => {
    const { noWorker } = await service.view(id).catch(() => ({ noWorker: undefined }));
    if (noWorker === undefined) return;
    clearInterval(silence);
    lines.break();
    terminal.write(terminal.paint.yellow(noWorkerText(noWorker)));
  };
  const silence = setInterval(() => void explain(), silenceMs);
  try {
    for (;;) {
      try {
        if (lost.isLost) {
          await service.view(id);
          lost.isUp();
        }
        const events = terminal.live ? service.liveEvents(id, { from, until: 'waiting' }) : service.events(id, { from, until: 'waiting' });
        let ended: TurnStatus | undefined;
        for await (const event of events) {
          lost.isBack();
          silence.refresh();
          if (event.type !== 'message' || event.id !== said) lines.show(event);
          from = event.offset === undefined ? from : event.offset + 1;
          if (event.type === 'turn-end' && event.turn === turn) ended = event.status;
          if (ended !== undefined) break;
        }
        const view = await service.view(id);
        lines.break();
        if (ended !== undefined) return { view, from, turn: ended };
        if (view.status !== 'running' && view.nextOffset <= from && !isToCome(view, turn)) return { view, from };
        lost.isBack();
      } catch (error) {
        lines.break();
        lost.mayReturn(error);
      }
      await delay(200);
    }
  } finally {
    clearInterval(silence);
    forget();
  }
}

/** The command then looks for a missing worker. */
const silenceMs = 5_000;

/** A turn that begins under another build may leave the conversation idle for a moment. */
function isToCome({ status, conversation }: ShownRun, turn: number | undefined): boolean {
  if (turn === undefined || status !== 'idle' || conversation === undefined) return false;
  return conversation.turn < turn && !conversation.paused;
}

function ended(view: ShownRun, lines: EventLines, terminal: Terminal): number {
  if (view.status === 'idle' && view.conversation?.paused === true) {
    terminal.write('The conversation is paused. The message waits.');
    return exitCodes.waiting;
  }
  if (view.status === 'completed' || view.status === 'idle') {
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

function later({ id, by }: Attendance, open: readonly Interrupt[], service: FoundService, terminal: Terminal): number {
  terminal.write();
  terminal.write(`The run ${id} waits. Decide with:`);
  for (const interrupt of open) for (const command of commandsFor(id, interrupt, service, by)) terminal.write(`  ${command}`);
  return exitCodes.waiting;
}
