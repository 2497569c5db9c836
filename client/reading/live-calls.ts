import { agentOfPath } from '../../contract/record/agent-paths';
import type { Delta, DeltaBody, DeltaOrigin } from '../../contract/deltas';
import type { RunEvent } from '../../contract/events';
import type { HistoryFact } from '../../contract/record/history-fact';
import type { Part } from '../../contract/messages/messages';

type RetryEvent = Extract<RunEvent, { type: 'model-retry' }>;
type MessageEvent = Extract<RunEvent, { type: 'model-end' | 'tool-end' }>;

interface ScheduledCall {
  readonly origin: Omit<DeltaOrigin, 'attempt'>;
  /** Calls of one key make one message. */
  readonly key: string;
  attempt: number;
  voided: number;
  settled: boolean;
  shown: Delta[];
}

/** Shows deltas after the start of a call and before the message, and announces a message that differs from the deltas. */
export class LiveCalls {
  private readonly calls = new Map<string, ScheduledCall>();
  private readonly scheduled = new Map<number, string>();
  private readonly early = new Map<string, Delta[]>();
  private readonly over = new Set<string>();

  constructor(private readonly show: (delta: Delta) => void) {}

  get open(): readonly Delta[] {
    return [...this.calls.values()].flatMap(({ shown }) => shown);
  }

  take(delta: Delta): void {
    const { address } = delta;
    const call = this.calls.get(address);
    if (call !== undefined) this.takeOf(call, delta);
    else if (!this.over.has(address)) this.early.set(address, [...(this.early.get(address) ?? []), delta]);
  }

  /** Call after the fact's events were shown. */
  fact(fact: HistoryFact): void {
    switch (fact.kind) {
      case 'model-scheduled': {
        const { path, turn } = fact.input;
        this.schedule(fact.eventId, fact.activityId, path, modelKey(path, turn));
        return;
      }
      case 'tool-scheduled': {
        const { path, callId, tool, hidden } = fact.input;
        if (hidden !== true) this.schedule(fact.eventId, fact.activityId, path, toolKey(path, tool, callId));
        return;
      }
      case 'activity-completed':
      case 'activity-closed':
        this.comeBack(fact.scheduledId, fact.kind === 'activity-closed');
        return;
      case 'continued':
      case 'end':
        this.calls.clear();
        this.scheduled.clear();
        this.early.clear();
        this.over.clear();
    }
  }

  /** The address of a call that ends with the fact, if deltas of the call were shown. */
  endOf(fact: HistoryFact): string | undefined {
    const address = fact.kind === 'activity-completed' ? this.scheduled.get(fact.scheduledId) : undefined;
    const call = address === undefined ? undefined : this.calls.get(address);
    return call !== undefined && isSeen(call) ? address : undefined;
  }

  message(event: MessageEvent): void {
    const key = event.type === 'model-end' ? modelKey(event.runPath, event.turn) : toolKey(event.runPath, event.tool, event.callId);
    const made = [...this.calls.entries()].filter(([, call]) => call.key === key);
    // A provider may give two calls of a message one id: the settled call is meant.
    const ended = event.type === 'model-end' ? made : made.filter(([, { settled }]) => settled).slice(0, 1);
    for (const [address, call] of ended) {
      if (isSeen(call) && isReplaced(call.shown, event)) this.say(call, { type: 'message-replaced' });
      this.forget(address);
    }
  }

  /** Voids deltas of rejected calls before the event is shown. */
  retry({ runPath, turn }: RetryEvent): void {
    this.voidSettled(modelKey(runPath, turn));
  }

  ending(): void {
    for (const call of this.calls.values()) if (call.settled) this.void(call);
  }

  private schedule(eventId: number, address: string, path: readonly string[], key: string): void {
    this.voidSettled(key);
    const call: ScheduledCall = {
      origin: { agent: agentOfPath(path), runPath: path, address },
      key,
      attempt: 0,
      voided: 0,
      settled: false,
      shown: [],
    };
    this.calls.set(address, call);
    this.scheduled.set(eventId, address);
    const early = this.early.get(address) ?? [];
    this.early.delete(address);
    for (const delta of early) this.takeOf(call, delta);
  }

  private voidSettled(key: string): void {
    for (const [address, call] of this.calls) {
      if (call.key !== key || !call.settled) continue;
      this.void(call);
      this.forget(address);
    }
  }

  private comeBack(scheduledId: number, failed: boolean): void {
    const address = this.scheduled.get(scheduledId);
    const call = address === undefined ? undefined : this.calls.get(address);
    this.scheduled.delete(scheduledId);
    if (address === undefined || call === undefined) return;
    if (failed) this.void(call);
    call.settled = true;
    if (!isSeen(call)) this.forget(address);
  }

  private takeOf(call: ScheduledCall, delta: Delta): void {
    if (call.settled) return;
    const { attempt } = delta;
    if (delta.type === 'attempt-void') {
      if (attempt <= call.voided) return;
      call.voided = attempt;
      call.shown = [delta];
    } else if (delta.type === 'attempt-start') {
      if (attempt <= call.attempt || attempt <= call.voided) return;
      if (call.attempt > call.voided) this.void(call);
      call.attempt = attempt;
      call.shown = [...call.shown.filter(({ type }) => type === 'attempt-void'), delta];
    } else {
      // An attempt without a seen start is hidden, because half an answer misleads.
      if (attempt !== call.attempt || attempt <= call.voided) return;
      push(call.shown, delta);
    }
    this.show(delta);
  }

  private void(call: ScheduledCall): void {
    if (!isSeen(call)) return;
    const { attempt } = call;
    call.voided = attempt;
    this.say(call, { type: 'attempt-void' });
    call.shown = call.shown.slice(-1);
  }

  private say(call: ScheduledCall, body: DeltaBody): void {
    const delta: Delta = { ...body, ...call.origin, attempt: call.attempt };
    call.shown.push(delta);
    this.show(delta);
  }

  private forget(address: string): void {
    this.calls.delete(address);
    this.over.add(address);
  }
}

/** Joins consecutive texts, so that waiting lists stay short. */
export function push(list: (RunEvent | Delta)[], delta: Delta): void {
  const last = list.at(-1);
  if (last !== undefined && last.offset === undefined && isText(last) && isText(delta) && continues(last, delta))
    list[list.length - 1] = { ...last, text: last.text + delta.text } as Delta;
  else list.push(delta);
}

type TextDelta = Delta & { readonly text: string };

function isText(delta: Delta): delta is TextDelta {
  return 'text' in delta && delta.text !== undefined;
}

function continues(last: TextDelta, delta: TextDelta): boolean {
  const callOf = (of: TextDelta): string | undefined => ('callId' in of ? of.callId : undefined);
  return last.type === delta.type && last.address === delta.address && last.attempt === delta.attempt && callOf(last) === callOf(delta);
}

function isSeen({ attempt, voided }: ScheduledCall): boolean {
  return attempt > voided;
}

function modelKey(path: readonly string[], turn: number): string {
  return `${path.join('/')} ${turn}`;
}

function toolKey(path: readonly string[], tool: string, callId: string): string {
  return `${path.join('/')} ${tool} ${callId}`;
}

/** A tool's progress is not part of the result. */
function isReplaced(shown: readonly Delta[], event: MessageEvent): boolean {
  if (event.type === 'tool-end' && !shown.some(({ type }) => type === 'tool-output-delta')) return false;
  return textSeen(shown) !== textOf(event);
}

function textSeen(shown: readonly Delta[]): string {
  let text = '';
  for (const delta of shown) {
    if (delta.type === 'text-delta') text += delta.text;
    else if (delta.type === 'tool-output-delta') text += delta.text ?? partText(delta.part);
  }
  return text;
}

function textOf(event: MessageEvent): string {
  return event.message.parts.map((part) => (part.type === 'tool-result' ? outputText(part) : partText(part))).join('');
}

function outputText({ output, multipart }: Extract<Part, { type: 'tool-result' }>): string {
  if (multipart === true) return (output as unknown as readonly Part[]).map(partText).join('');
  return typeof output === 'string' ? output : JSON.stringify(output);
}

function partText(part: Part | undefined): string {
  return part?.type === 'text' ? part.text : '';
}
