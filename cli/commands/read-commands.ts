import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError } from '../../contract/errors';
import { isEnded, type RetriedCall, type RunEvent } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import type { Json, StoredMessage } from '../../contract/messages/messages';
import { contentOf, eventLine } from '../event-line';
import { interruptLines } from '../event-lines';
import { takenBy } from '../agent-input';
import { cancelRequestText, cancelledText } from '../cancel-words';
import { LostService } from '../lost-service';
import { commandsFor } from '../next-commands';
import { rootRunId } from '../../contract/record/child-runs';
import { stepsOf } from '../run-steps';
import { commandLine } from '../../contract/shell-words';
import type { FoundService } from '../found-service';
import type { ShownRun } from '../../contract/service';
import { exitCodes, writeJson, writeTable, type JsonFlag } from '../output';
import { oneLine, type Terminal } from '../terminal';
import { noWorkerText } from '../../contract/no-worker';
import { lengthText, relativeTime, timeText } from '../times';

export type WideFlags = JsonFlag & { readonly wide?: boolean };
export type EventFlags = JsonFlag & { readonly from?: string; readonly follow?: boolean };

const longestText = 200;

export async function showRun(service: FoundService, terminal: Terminal, id: string, flags: WideFlags): Promise<number> {
  const now = Date.now();
  const view = await service.view(id);
  if (flags.json === true) return writeJson(terminal, view);
  const events = await eventsUntil(service, id, view.nextOffset);
  const messages = await service.transcript(id);
  const { error, output } = view;
  const start = events.find((event) => event.type === 'run-start');
  writeTable(terminal, [
    ['run', view.id],
    ['agent', view.agent],
    ['status', view.status],
    ...(view.noWorker === undefined ? [] : [['worker', noWorkerText(view.noWorker)]]),
    ...begunWith(view, start?.input, flags.wide === true ? Infinity : longestText),
    ...timesOf(view, now),
    ...cancelRows(view, service.flags, now),
    ...(view.startedBy === undefined ? [] : [['started by', view.startedBy]]),
    ...((view.tags ?? []).length === 0 ? [] : [['tags', (view.tags ?? []).join(', ')]]),
    ...(view.build === undefined ? [] : [['build', view.build]]),
    ...spentRows(view),
    ...(error === undefined ? [] : [['error', `${error.code}: ${error.message}`]]),
    ...(view.retrying ?? []).map((call) => ['retries', retryLine(call)]),
  ]);
  showSteps(terminal, events, now);
  showMessages(terminal, messages, flags.wide === true);
  if (output !== undefined) terminal.writeText(`\n${typeof output === 'string' ? output : JSON.stringify(output, null, 2)}`);
  for (const interrupt of view.interrupts) showInterrupt(terminal, service, view, interrupt);
  return exitCodes.done;
}

function begunWith({ conversation }: ShownRun, input: Json | undefined, longest: number): readonly string[][] {
  if (conversation !== undefined) return conversation.title === undefined ? [] : [['title', oneLine(conversation.title, longest)]];
  return input === undefined ? [] : [['input', oneLine(input, longest)]];
}

function timesOf({ startedAt, closedAt }: ShownRun, now: number): readonly string[][] {
  if (startedAt === undefined) return [];
  const start = Date.parse(startedAt);
  const end = closedAt === undefined ? now : Date.parse(closedAt);
  return [
    ['began', `${timeText(start)} (${relativeTime(start, now)})`],
    ['duration', `${lengthText(end - start)}${closedAt === undefined ? ' so far' : ''}`],
  ];
}

function cancelRows({ id, status, cancelled, cancelling, closedAt }: ShownRun, flags: readonly string[], now: number): readonly string[][] {
  if (cancelling !== undefined) return [['to stop', oneLine(cancelRequestText(cancelling))]];
  if (status !== 'cancelled') return [];
  const when = closedAt === undefined ? '' : `${timeText(closedAt)} (${relativeTime(Date.parse(closedAt), now)})`;
  const facts = `${when}${oneLine(cancelledText(cancelled ?? {}))}`.replace(/^[,:] /, '');
  // An isolated agent continues with its parent run.
  const goesOn = rootRunId(id) === id ? [['go on with', commandLine('resume', id, ...flags)]] : [];
  return [...(facts === '' ? [] : [['cancelled', facts]]), ...goesOn];
}

function spentRows({ usage, usageByModel = {}, cost }: ShownRun): readonly string[][] {
  const models = Object.entries(usageByModel);
  const tokens = `${usage.inputTokens} in, ${usage.outputTokens} out`;
  return [
    ['tokens', models.length === 1 ? `${tokens} (${models[0]?.[0] ?? ''})` : tokens],
    ...(models.length < 2 ? [] : models.map(([model, used]) => ['', `${used.inputTokens} in, ${used.outputTokens} out (${model})`])),
    ...(cost === undefined ? [] : [['cost', costText(cost)]]),
  ];
}

function costText({ amount, complete, unpriced }: NonNullable<ShownRun['cost']>): string {
  if (complete) return String(amount);
  return `${amount}, without ${(unpriced ?? []).join(', ')}: no price`;
}

function showSteps(terminal: Terminal, events: readonly RunEvent[], now: number): void {
  const [first] = events;
  const steps = stepsOf(events);
  if (first === undefined || steps.length === 0) return;
  terminal.write();
  writeTable(
    terminal,
    steps.map(({ kind, what, runPath, from, to, note }) => [
      `+${lengthText(from - first.time)}`,
      kind,
      `${runPath.length > 1 ? `[${runPath.slice(1).join(' › ')}] ` : ''}${what === '' ? '-' : what}`,
      to === undefined ? `${lengthText(now - from)} so far` : lengthText(to - from),
      oneLine(note ?? '', longestText),
    ]),
    ['AFTER', 'STEP', 'WHAT', 'TOOK', 'NOTE'],
  );
}

function showMessages(terminal: Terminal, messages: readonly StoredMessage[], wide: boolean): void {
  if (messages.length === 0) return;
  terminal.write();
  writeTable(
    terminal,
    messages.map((message) => [message.role, oneLine(contentOf(message), wide ? Infinity : longestText)]),
    ['WHO', 'SAID'],
  );
}

async function eventsUntil(service: FoundService, id: string, nextOffset: number): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  if (nextOffset === 0) return events;
  for await (const event of service.events(id)) {
    events.push(event);
    if (event.offset + 1 >= nextOffset) break;
  }
  return events;
}

export async function printEvents(
  service: FoundService,
  terminal: Terminal,
  id: string,
  flags: EventFlags & { patienceMs?: number },
): Promise<number> {
  let from = Number(flags.from ?? 0);
  if (flags.from !== undefined && !/^\d{1,15}$/.test(flags.from))
    throw new HoldfastError('request-invalid', `--from is '${flags.from}'. It must be the offset of an event: a whole number from 0.`);
  const lost = new LostService(terminal, commandLine('events', id, '--follow', ...service.flags), flags.patienceMs, false);
  for (;;) {
    try {
      const { nextOffset, status } = await service.view(id);
      lost.isUp();
      if (from > nextOffset)
        throw new HoldfastError('request-invalid', `--from is '${from}', and the next event of this run has the offset ${nextOffset}.`);
      if (from >= nextOffset && (isEnded(status) || flags.follow !== true)) return exitCodes.done;
      for await (const event of service.events(id, { from })) {
        lost.isBack();
        terminal.write(flags.json === true ? JSON.stringify(event) : eventLine(event));
        from = event.offset + 1;
        if (flags.follow !== true && from >= nextOffset) return exitCodes.done;
      }
    } catch (error) {
      if (flags.follow !== true) throw error;
      lost.mayReturn(error);
    }
    await delay(200);
  }
}

export interface AgentListFlags extends JsonFlag {
  readonly names?: boolean;
}

export async function listAgents(service: FoundService, terminal: Terminal, flags: AgentListFlags): Promise<number> {
  const agents = await service.agents();
  if (flags.names === true) {
    for (const { name } of agents) terminal.write(name);
    return exitCodes.done;
  }
  if (flags.json === true) return writeJson(terminal, { agents });
  const areJobs = agents.some(({ takesJob }) => takesJob === true);
  writeTable(
    terminal,
    agents.map((agent) => [agent.name, ...(areJobs ? [takenBy(agent)] : []), agent.description]),
  );
  return exitCodes.done;
}

function retryLine({ address, attempt, nextAttemptAt, error }: RetriedCall): string {
  return `${address}: attempt ${attempt} at ${timeText(nextAttemptAt)}, after ${error.code}: ${error.message}`;
}

function showInterrupt(terminal: Terminal, service: FoundService, { id, agent }: ShownRun, interrupt: Interrupt): void {
  for (const line of interruptLines(interrupt, terminal, agent)) terminal.write(line);
  for (const command of commandsFor(id, interrupt, service)) terminal.write(`  ${command}`);
}
