import { defined } from '../../contract/defined';
import type { RunEvent } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import type { Json, StoredMessage, Usage } from '../../contract/messages/messages';
import { messagesOfInput, toolCallsOf } from '../../contract/messages/messages';
import { isInside } from '../../contract/record/agent-paths';
import { addModelUsage } from '../../contract/usage';
import { runTexts } from '../texts/run';
import type { ConversationEntry, EntryOf, TimedStep } from './entries';
import { causeOf, noteOf } from './notes';

/** Takes each event once, because logs have thousands of events. */
export class RunSteps {
  readonly steps: TimedStep[] = [];
  readonly entries: ConversationEntry[] = [];
  private readonly open = new Map<string, TimedStep>();
  private readonly calls = new Map<string, EntryOf<'call'>>();
  private readonly waits = new Map<string, EntryOf<'wait'>>();
  private readonly atWork = new Map<string, EntryOf<'call' | 'agent'>>();
  private readonly written = new Map<string, Json>();
  private taken = 0;

  waitOf(interruptId: string): EntryOf<'wait'> | undefined {
    return this.waits.get(interruptId);
  }

  take(events: readonly RunEvent[]): this {
    for (; this.taken < events.length; this.taken++) this.add(events[this.taken] as RunEvent);
    return this;
  }

  private add(event: RunEvent): void {
    const key = String(event.offset);
    const { time } = event;
    const depth = 'runPath' in event ? event.runPath.length - 1 : 0;
    const made = { depth, start: time };
    switch (event.type) {
      case 'run-start':
        for (const message of messagesOfInput(event.input) ?? jobOf(event.input))
          this.entries.push({ key: `${key}.${message.id}`, time, kind: 'message', message, depth: 0 });
        return;
      case 'model-start':
        this.begin(`model ${event.address}`, { ...made, kind: 'model', title: event.agent, agent: event.agent, address: event.address });
        return;
      case 'model-end': {
        const { message, agent, address, model, changes, usage } = event;
        if (address !== undefined) this.settle(`model ${address}`, time, { usage, model, changes });
        if (usage !== undefined) this.usedInTurn(model, usage);
        const isPartial = event.finish === 'cancelled';
        for (const { id, input } of toolCallsOf(message)) this.written.set(`${event.runPath.join('/')} ${id}`, input);
        this.entries.push({ key, time, kind: 'message', message, agent, depth, model, isPartial, ...defined({ address, changes }) });
        return;
      }
      case 'model-retry': {
        const step = this.steps.findLast((one) => one.kind === 'model' && one.end === undefined && one.agent === event.agent);
        if (step !== undefined) {
          step.retries = (step.retries ?? 0) + 1;
          step.error = event.error;
          step.end = time;
          if (step.address !== undefined) this.open.delete(`model ${step.address}`);
        }
        this.entries.push({ key, time, kind: 'note', event });
        return;
      }
      case 'model-wait': {
        const step = this.steps.findLast((one) => one.address === event.address);
        if (step !== undefined) step.waited = { turnMs: event.turnMs, busyMs: event.busyMs };
        return;
      }
      case 'tool-start': {
        const { tool, callId, agent, address, input } = event;
        if (event.again === true && this.goesOn(event)) return;
        this.begin(`tool ${address}`, { ...made, kind: 'tool', title: tool, agent, address });
        const entry: EntryOf<'call'> = { key, time, kind: 'call', tool, callId, agent, depth, address, input, start: time };
        this.calls.set(address, entry);
        this.atWork.set(address, entry);
        this.entries.push(entry);
        return;
      }
      case 'tool-end': {
        const { tool, callId, agent, address = '', message, error, changes } = event;
        this.settle(`tool ${address}`, time, { error, changes });
        const entry = this.calls.get(address);
        const end = { message, time, ...defined({ error, changes }) };
        const input = this.written.get(`${event.runPath.join('/')} ${callId}`) ?? null;
        this.atWork.delete(address);
        if (entry !== undefined) entry.end = end;
        else this.entries.push({ key, time, kind: 'call', tool, callId, agent, depth, input, start: time, end });
        return;
      }
      case 'agent-message':
        this.entries.push({ key, time, kind: 'message', message: event.message, agent: event.agent, depth });
        return;
      case 'message': {
        const { message, by } = event;
        this.entries.push({ key, time, kind: 'message', message, depth: 0, ...defined({ by }) });
        return;
      }
      case 'turn-start':
        this.entries.push({ key, time, kind: 'turn', turn: event.turn });
        this.begin('turn', { kind: 'turn', title: runTexts.turn(event.turn), agent: '', depth: 0, start: time });
        return;
      case 'agent-start': {
        const { agent, run } = event;
        const path = event.runPath.join('/');
        this.begin(`agent ${path}`, { ...made, kind: 'agent', title: agent, agent, ...defined({ run }) });
        if (run === undefined) return;
        const entry: EntryOf<'agent'> = { key, time, kind: 'agent', agent, depth, run };
        this.atWork.set(path, entry);
        this.entries.push(entry);
        return;
      }
      case 'agent-end': {
        const path = event.runPath.join('/');
        const { error, usage, usageByModel } = event;
        this.settle(`agent ${path}`, time, { error, usage, usageByModel });
        for (const [model, used] of Object.entries(usageByModel ?? {})) this.usedInTurn(model, used);
        const lane = this.atWork.get(path);
        if (lane?.kind === 'agent') lane.end = { time, ...defined({ error }) };
        this.atWork.delete(path);
        return;
      }
      case 'interrupt-start': {
        const { interrupt } = event;
        if (interrupt === undefined) return;
        const title = interrupt.kind === 'approval' ? interrupt.tool : interrupt.kind;
        this.begin(`wait ${interrupt.id}`, { kind: 'wait', title, agent: interrupt.agent, depth: 0, start: time });
        const entry: EntryOf<'wait'> = { key, time, kind: 'wait', interrupt };
        this.waits.set(interrupt.id, entry);
        this.entries.push(entry);
        this.halt(interrupt);
        return;
      }
      case 'interrupt-end': {
        this.settle(`wait ${event.interruptId}`, time, { ending: event.by });
        const entry = this.waits.get(event.interruptId);
        if (entry === undefined) return;
        entry.end = event;
        this.halt(entry.interrupt);
        return;
      }
      case 'run-end':
        for (const entry of [...this.atWork.values(), ...this.waits.values()]) entry.halt = 'over';
        for (const step of this.open.values()) {
          step.end ??= time;
          if (event.error !== undefined && (step.kind === 'model' || step.kind === 'tool')) step.error ??= event.error;
        }
        this.open.clear();
        this.entries.push({ key, time, kind: 'note', event });
        this.mark(event);
        return;
      case 'turn-end': {
        this.settle('turn', time, { usage: event.usage, error: event.error });
        if (event.error !== undefined || event.status === 'stopped') this.entries.push({ key, time, kind: 'note', event });
        return;
      }
      case 'run-retry':
      case 'run-resume':
      case 'cancel-start':
      case 'cancel-request':
      case 'conversation-change':
      case 'message-withdrawn':
      case 'message-ignored':
      case 'resume-ignored':
      case 'interrupt-escalate':
      case 'tool-reconcile':
      case 'custom':
        // Interrupts that were open at the end wait again.
        if (event.type === 'run-retry' || event.type === 'run-resume') for (const wait of this.waits.values()) delete wait.halt;
        this.entries.push({ key, time, kind: 'note', event });
        if (event.type !== 'custom') this.mark(event);
    }
  }

  /** A repeated call keeps the entry, maybe with another address. */
  private goesOn({ address, callId, agent }: Extract<RunEvent, { type: 'tool-start' }>): boolean {
    const isSame = (entry: ConversationEntry): boolean => entry.kind === 'call' && entry.callId === callId && entry.agent === agent;
    const known = this.calls.get(address) ?? [...this.atWork.values()].find(isSame);
    if (known?.kind !== 'call') return false;
    const step = this.open.get(`tool ${known.address ?? ''}`);
    this.open.delete(`tool ${known.address ?? ''}`);
    if (step !== undefined) this.open.set(`tool ${address}`, Object.assign(step, { address }));
    this.atWork.delete(known.address ?? '');
    known.address = address;
    delete known.halt;
    this.calls.set(address, known);
    this.atWork.set(address, known);
    return true;
  }

  /** Calls and agents around an open question stand still. */
  private halt({ address }: Interrupt): void {
    for (const [place, entry] of this.atWork) {
      if (!isInside(address, place)) continue;
      const open = [...this.waits.values()].find(({ end, halt, interrupt }) => !end && !halt && isInside(interrupt.address, place));
      if (open === undefined) delete entry.halt;
      else entry.halt = open.interrupt.kind === 'in-doubt' ? 'in-doubt' : 'waits';
    }
  }

  private mark(event: RunEvent): void {
    const { time } = event;
    const { error, by: ending } = causeOf(event);
    const mark = { kind: 'mark', title: noteOf(event), agent: '', depth: 0, start: time, end: time } as const;
    this.steps.push({ ...mark, key: `mark ${event.offset}`, ...defined({ error, ending }) });
  }

  private usedInTurn(model: string, usage: Usage): void {
    const turn = this.open.get('turn');
    if (turn !== undefined) turn.usageByModel = addModelUsage(turn.usageByModel ?? {}, model, usage);
  }

  private begin(place: string, step: Omit<TimedStep, 'key'>): void {
    const made: TimedStep = { ...step, key: `${place} ${this.steps.length}` };
    this.steps.push(made);
    this.open.set(place, made);
  }

  private settle(place: string, end: number, result: object): void {
    const step = this.open.get(place);
    this.open.delete(place);
    if (step !== undefined) Object.assign(step, { end, ...result });
  }
}

function jobOf(input: Json): readonly StoredMessage[] {
  if (Array.isArray(input) && input.length === 0) return [];
  return [{ id: 'job', role: 'user', parts: [{ type: 'text', text: JSON.stringify(input, null, 2) ?? '' }] }];
}
