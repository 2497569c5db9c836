import { defined } from '../../contract/defined';
import type { RunEvent } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import type { Failure, Json, StoredMessage, Usage } from '../../contract/messages/messages';
import { messagesOfInput } from '../../contract/messages/messages';
import type { MiddlewareChange } from '../../contract/middleware-changes';
import type { UsageByModel } from '../../contract/usage';
import { addModelUsage } from '../../contract/usage';
import { runTexts } from '../texts/run';
import { noteOf } from './notes';

/** Something that took time: a call, a wait, an agent. A row of the timeline. */
export interface TimedStep {
  readonly key: string;
  readonly kind: 'model' | 'tool' | 'wait' | 'agent' | 'turn' | 'mark';
  readonly title: string;
  readonly agent: string;
  /** How deep its agent stands in others. */
  readonly depth: number;
  readonly start: number;
  end?: number;
  readonly address?: string;
  /** Of an isolated agent: its own run. */
  readonly run?: string;
  usage?: Usage;
  /** Of a turn: what each model has used. */
  usageByModel?: UsageByModel;
  model?: string;
  error?: Failure;
  changes?: readonly MiddlewareChange[];
  /** How often its answer did not count. */
  retries?: number;
  /** How long it was put off before it was made, in milliseconds. */
  waited?: { readonly turnMs: number; readonly busyMs: number };
  /** What people did with it. */
  ending?: string;
}

/** One entry of the conversation, in the order of the log. */
export type ConversationEntry = { readonly key: string; readonly time: number } & (
  | {
      readonly kind: 'message';
      readonly message: StoredMessage;
      readonly agent?: string;
      readonly by?: string;
      readonly depth: number;
      readonly address?: string;
      readonly model?: string;
      readonly isPartial?: boolean;
      readonly changes?: readonly MiddlewareChange[];
    }
  | {
      readonly kind: 'call';
      readonly tool: string;
      readonly callId: string;
      readonly agent: string;
      readonly depth: number;
      readonly address: string;
      readonly input: Json;
      readonly start: number;
      end?: {
        readonly message: StoredMessage;
        readonly error?: Failure;
        readonly time: number;
        readonly changes?: readonly MiddlewareChange[];
      };
    }
  | { readonly kind: 'turn'; readonly turn: number }
  | {
      readonly kind: 'agent';
      readonly agent: string;
      readonly depth: number;
      readonly run: string;
      end?: { readonly error?: Failure; readonly time: number };
    }
  | { readonly kind: 'wait'; readonly interrupt: Interrupt; end?: Extract<RunEvent, { type: 'interrupt-end' }> }
  | { readonly kind: 'note'; readonly event: RunEvent }
);

/** What the page shows of a log, made as it comes: a log of thousands of events is gone through once. */
export class RunSteps {
  readonly steps: TimedStep[] = [];
  readonly entries: ConversationEntry[] = [];
  private readonly open = new Map<string, TimedStep>();
  private readonly calls = new Map<string, Extract<ConversationEntry, { kind: 'call' }>>();
  private readonly waits = new Map<string, Extract<ConversationEntry, { kind: 'wait' }>>();
  private readonly lanes = new Map<string, Extract<ConversationEntry, { kind: 'agent' }>>();
  private taken = 0;

  /** A question of the log: when it began, and how it ended. */
  waitOf(interruptId: string): { readonly time: number; readonly end?: Extract<RunEvent, { type: 'interrupt-end' }> } | undefined {
    return this.waits.get(interruptId);
  }

  /** Takes what is new in a log. */
  take(events: readonly RunEvent[]): this {
    for (; this.taken < events.length; this.taken++) this.add(events[this.taken] as RunEvent);
    return this;
  }

  private add(event: RunEvent): void {
    const key = String(event.offset);
    const { time } = event;
    const depth = 'runPath' in event ? event.runPath.length - 1 : 0;
    switch (event.type) {
      case 'run-start':
        for (const message of messagesOfInput(event.input) ?? jobOf(event.input))
          this.entries.push({ key: `${key}.${message.id}`, time, kind: 'message', message, depth: 0 });
        return;
      case 'model-start':
        this.begin(`model ${event.address}`, {
          kind: 'model',
          title: event.agent,
          agent: event.agent,
          depth,
          start: time,
          address: event.address,
        });
        return;
      case 'model-end': {
        const step = event.address === undefined ? undefined : this.settle(`model ${event.address}`, time);
        if (step !== undefined) Object.assign(step, { usage: event.usage, model: event.model, changes: event.changes });
        if (event.usage !== undefined) this.usedInTurn(event.model, event.usage);
        const { message, agent, address, model, changes } = event;
        const isPartial = event.finish === 'cancelled';
        this.entries.push({
          key,
          time,
          kind: 'message',
          message,
          agent,
          depth,
          model,
          isPartial,
          ...(address === undefined ? {} : { address }),
          ...(changes === undefined ? {} : { changes }),
        });
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
        const known = this.calls.get(address);
        if (event.again === true && known !== undefined) return;
        this.begin(`tool ${address}`, { kind: 'tool', title: tool, agent, depth, start: time, address });
        const entry: Extract<ConversationEntry, { kind: 'call' }> = {
          key,
          time,
          kind: 'call',
          tool,
          callId,
          agent,
          depth,
          address,
          input,
          start: time,
        };
        this.calls.set(address, entry);
        this.entries.push(entry);
        return;
      }
      case 'tool-end': {
        const step = event.address === undefined ? undefined : this.settle(`tool ${event.address}`, time);
        if (step !== undefined) Object.assign(step, { error: event.error, changes: event.changes });
        const entry = event.address === undefined ? undefined : this.calls.get(event.address);
        const { message, error, changes } = event;
        if (entry !== undefined)
          entry.end = { message, time, ...(error === undefined ? {} : { error }), ...(changes === undefined ? {} : { changes }) };
        else this.entries.push({ key, time, kind: 'message', message, agent: event.agent, depth });
        return;
      }
      case 'agent-message':
        this.entries.push({ key, time, kind: 'message', message: event.message, agent: event.agent, depth });
        return;
      case 'message': {
        const { message, by } = event;
        this.entries.push({ key, time, kind: 'message', message, depth: 0, ...(by === undefined ? {} : { by }) });
        return;
      }
      case 'turn-start':
        this.entries.push({ key, time, kind: 'turn', turn: event.turn });
        this.begin('turn', { kind: 'turn', title: runTexts.turn(event.turn), agent: '', depth: 0, start: time });
        return;
      case 'agent-start': {
        const path = event.runPath.join('/');
        this.begin(`agent ${path}`, {
          kind: 'agent',
          title: event.agent,
          agent: event.agent,
          depth,
          start: time,
          ...(event.run === undefined ? {} : { run: event.run }),
        });
        if (event.run === undefined) return;
        const entry: Extract<ConversationEntry, { kind: 'agent' }> = {
          key,
          time,
          kind: 'agent',
          agent: event.agent,
          depth,
          run: event.run,
        };
        this.lanes.set(path, entry);
        this.entries.push(entry);
        return;
      }
      case 'agent-end': {
        const path = event.runPath.join('/');
        const step = this.settle(`agent ${path}`, time);
        if (step !== undefined) Object.assign(step, { error: event.error, usage: event.usage });
        const lane = this.lanes.get(path);
        if (lane !== undefined) lane.end = { time, ...(event.error === undefined ? {} : { error: event.error }) };
        return;
      }
      case 'interrupt-start': {
        const { interrupt } = event;
        if (interrupt === undefined) return;
        const title = interrupt.kind === 'approval' ? interrupt.tool : interrupt.kind;
        this.begin(`wait ${interrupt.id}`, { kind: 'wait', title, agent: interrupt.agent, depth: 0, start: time });
        const entry: Extract<ConversationEntry, { kind: 'wait' }> = { key, time, kind: 'wait', interrupt };
        this.waits.set(interrupt.id, entry);
        this.entries.push(entry);
        return;
      }
      case 'interrupt-end': {
        const step = this.settle(`wait ${event.interruptId}`, time);
        if (step !== undefined && event.by !== undefined) step.ending = event.by;
        const entry = this.waits.get(event.interruptId);
        if (entry !== undefined) entry.end = event;
        return;
      }
      case 'run-end':
        for (const step of this.open.values()) {
          step.end ??= time;
          if (event.error !== undefined && (step.kind === 'model' || step.kind === 'tool')) step.error ??= event.error;
        }
        this.open.clear();
        this.entries.push({ key, time, kind: 'note', event });
        this.mark(event);
        return;
      case 'turn-end': {
        const step = this.settle('turn', time);
        if (step !== undefined) Object.assign(step, { usage: event.usage, error: event.error });
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
        this.entries.push({ key, time, kind: 'note', event });
        if (event.type !== 'custom') this.mark(event);
    }
  }

  /** A point in time. */
  private mark(event: RunEvent): void {
    const { time } = event;
    const error = 'error' in event && typeof event.error === 'object' ? event.error : undefined;
    const ending = 'by' in event && typeof event.by === 'string' ? event.by : undefined;
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

  private settle(place: string, time: number): TimedStep | undefined {
    const step = this.open.get(place);
    this.open.delete(place);
    if (step !== undefined) step.end = time;
    return step;
  }
}

/** A job, as a message. A conversation begins with no input. */
function jobOf(input: Json): readonly StoredMessage[] {
  if (Array.isArray(input) && input.length === 0) return [];
  return [{ id: 'job', role: 'user', parts: [{ type: 'text', text: JSON.stringify(input, null, 2) ?? '' }] }];
}
