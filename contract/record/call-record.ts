import type { MessageEdit, ModelAsked, ModelRunCall, RequestDiff, RunCall, ToolRunCall } from '../calls';
import { defined } from '../defined';
import type { RunEvent } from '../events';
import { jsonSize } from '../limits';
import type { Failure, Json, StoredMessage } from '../messages/messages';
import { canonicalJson } from '../messages/messages';
import { agentOfPath } from './agent-paths';
import { HistoryFold } from './fold';
import type { HistoryFact } from './history-fact';
import { spliceBetween } from './splice';
import type { CallModelInput, CallModelResult, CallToolInput, CallToolResult, StoredRequest } from './wire';

export interface MessagesWanted {
  /** Messages before this position. Undefined: the last messages. */
  readonly before?: number;
  readonly limit: number;
}

/** The most bytes of messages in one answer. A larger message comes alone. */
const mostBytes = 1024 * 1024;

interface AskedCall {
  readonly address: string;
  readonly request: StoredRequest;
}

interface Found {
  readonly startedAt: number;
  readonly eventId?: number;
  readonly model?: CallModelInput;
  readonly tool?: CallToolInput;
  readonly request?: StoredRequest;
  readonly before?: AskedCall;
}

export class CallRecord {
  private readonly fold = new HistoryFold();
  private readonly last = new Map<string, AskedCall>();
  private found: Found | undefined;
  private readonly results = new Map<string, { readonly result: unknown; readonly time: number }>();
  private readonly scheduled = new Map<number, string>();
  private readonly retries: string[] = [];
  private closedAt: number | undefined;
  private end: Extract<RunEvent, { type: 'model-end' | 'tool-end' }> | undefined;

  constructor(private readonly address: string) {}

  add(fact: HistoryFact): void {
    const events = this.fold.add(fact);
    if (fact.kind === 'model-scheduled') this.modelScheduled(fact);
    if (fact.kind === 'tool-scheduled') {
      this.scheduled.set(fact.eventId, fact.activityId);
      if (fact.activityId === this.address) this.found = { startedAt: fact.time, eventId: fact.eventId, tool: fact.input };
    }
    if (fact.kind === 'activity-completed') this.cameBack(this.scheduled.get(fact.scheduledId), fact.result, fact.time);
    if (fact.kind === 'activity-closed' && this.scheduled.get(fact.scheduledId) === this.address) this.closedAt = fact.time;
    for (const event of events) this.hear(event);
  }

  get isFound(): boolean {
    return this.found !== undefined;
  }

  get isWhole(): boolean {
    return this.end !== undefined || (this.closedAt !== undefined && this.found !== undefined);
  }

  get eventId(): number | undefined {
    return this.found?.eventId;
  }

  get lacksBefore(): string | undefined {
    const { model, before } = this.found ?? {};
    return model === undefined || before !== undefined ? undefined : model.path.join('/');
  }

  lastOf(path: string): AskedCall | undefined {
    return this.last.get(path);
  }

  call(wanted: MessagesWanted, before?: AskedCall): RunCall | undefined {
    const { found } = this;
    if (found === undefined) return undefined;
    return found.model === undefined ? this.toolCall(found) : this.modelCall(found, found.model, wanted, found.before ?? before);
  }

  private modelScheduled({ activityId, eventId, input, time }: Extract<HistoryFact, { kind: 'model-scheduled' }>): void {
    this.scheduled.set(eventId, activityId);
    const key = input.path.join('/');
    const before = this.last.get(key);
    const request = this.fold.requestOf(activityId);
    if (request === undefined) return;
    if (activityId === this.address) this.found = { startedAt: time, eventId, model: input, request, ...defined({ before }) };
    else if (this.found === undefined && isForSameMessage(activityId, this.address)) this.retries.push(activityId);
    this.last.set(key, { address: activityId, request });
  }

  private cameBack(address: string | undefined, result: unknown, time: number): void {
    if (address !== undefined && (address === this.address || isForSameMessage(address, this.address)))
      this.results.set(address, { result, time });
  }

  private hear(event: RunEvent): void {
    if (!('address' in event) || event.address !== this.address) return;
    // Workflow tools have no activity.
    if (event.type === 'tool-start' && this.found === undefined) {
      const { tool, callId, input, runPath, time } = event;
      this.found = { startedAt: time, tool: { tool, callId, input, path: runPath } };
    }
    if (event.type === 'model-end' || event.type === 'tool-end') this.end = event;
  }

  private modelCall(found: Found, input: CallModelInput, wanted: MessagesWanted, before: AskedCall | undefined): ModelRunCall {
    const request = found.request ?? { messages: [], slots: {} };
    const result = this.results.get(this.address)?.result as CallModelResult | undefined;
    const { message, partial, model, usage, finish, failed, waited } = result ?? {};
    return {
      kind: 'model',
      ...this.placeOf(found, input.path, failed),
      turn: input.turn,
      request: { ...fieldsOf(request), ...pageOf(request.messages, wanted) },
      ...(before === undefined ? {} : { diff: diffOf(before, request) }),
      ...(result === undefined ? {} : { response: defined({ message, partial, model, usage, finish, failed, waited }) }),
      retries: this.retries.map((address) => {
        const { failed: why } = (this.results.get(address)?.result ?? {}) as Partial<CallModelResult>;
        return { address, ...(why === undefined ? {} : { failed: { code: why.code, message: why.message } }) };
      }),
    };
  }

  private toolCall(found: Found): ToolRunCall {
    const { tool, callId, input, rawInput, options, workerMiddleware, resumed, reconcile, path } = found.tool as CallToolInput;
    const outcome = (this.results.get(this.address)?.result as CallToolResult | undefined)?.outcome;
    const end = this.end?.type === 'tool-end' ? this.end : undefined;
    const error = outcome?.type === 'failed' ? outcome.error : outcome === undefined ? end?.error : undefined;
    return {
      kind: 'tool',
      ...this.placeOf(found, path, error),
      tool,
      callId,
      request: {
        input,
        ...defined({ rawInput, options, workerMiddleware: workerMiddleware?.map(({ name }) => name), answer: resumed?.answer, reconcile }),
      },
      ...(outcome === undefined && end === undefined ? {} : { response: defined({ outcome, message: end?.message }) }),
    };
  }

  private placeOf({ startedAt }: Found, path: readonly string[], failed: Failure | undefined): Pick<RunCall, CommonFields> {
    const came = this.results.get(this.address)?.time;
    const endedAt = came ?? this.closedAt ?? this.end?.time;
    const status =
      came === undefined && this.closedAt !== undefined
        ? 'cancelled'
        : failed !== undefined
          ? 'failed'
          : endedAt === undefined
            ? 'running'
            : 'completed';
    return {
      address: this.address,
      agent: agentOfPath(path),
      runPath: path,
      status,
      startedAt,
      ...defined({ endedAt, changes: this.end?.changes }),
    };
  }
}

type CommonFields = 'address' | 'agent' | 'runPath' | 'status' | 'startedAt' | 'endedAt' | 'changes';

/** Several calls for one message share an address with ordinals. */
function isForSameMessage(one: string, other: string): boolean {
  return one !== other && one.replace(/\.\d+$/, '') === other.replace(/\.\d+$/, '') && /\/model(\.\d+)?$/.test(one);
}

function fieldsOf({ slots }: StoredRequest): Omit<ModelAsked, 'messages' | 'from' | 'total'> {
  const { instructions, tools, model, settings, workerMiddleware = [], output, catalog, deferred, final } = slots;
  const known = { instructions, tools, model, settings, output, catalog, deferred, final };
  const set = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== null && value !== undefined));
  return { ...set, ...(workerMiddleware.length === 0 ? {} : { workerMiddleware: workerMiddleware.map(({ name }) => name) }) };
}

function pageOf(messages: readonly StoredMessage[], { before = messages.length, limit }: MessagesWanted): Pick<ModelAsked, PageFields> {
  const end = Math.min(before, messages.length);
  let from = end;
  for (let bytes = 0; from > 0 && end - from < limit; from--) {
    bytes += jsonSize(messages[from - 1]);
    if (bytes > mostBytes && from < end) break;
  }
  return { messages: messages.slice(from, end), from, total: messages.length };
}

type PageFields = 'messages' | 'from' | 'total';

export function diffOf({ address, request: before }: AskedCall, request: StoredRequest): RequestDiff {
  const list = [...before.messages];
  const edits: MessageEdit[] = [];
  let [moved, bytes] = [0, 0];
  let more: true | undefined;
  const ids = before.messages.map(({ id }) => id);
  for (const [at, remove, insert] of spliceBetween(ids, request.messages, () => false)) {
    const added = insert as readonly StoredMessage[];
    const removed = list.splice(at, remove, ...added);
    const edit = { at: at - moved, removed, added };
    moved += added.length - removed.length;
    bytes += jsonSize(edit);
    if (bytes > mostBytes && edits.length > 0) more = true;
    else edits.push(edit);
  }
  const [was, is] = [fieldsOf(before), fieldsOf(request)] as readonly Readonly<Record<string, Json | undefined>>[] as [
    Readonly<Record<string, Json | undefined>>,
    Readonly<Record<string, Json | undefined>>,
  ];
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])];
  const fields = names
    .filter((name) => canonicalJson(was[name] ?? null) !== canonicalJson(is[name] ?? null))
    .map((name) => ({ name, before: was[name] ?? null }));
  return { address, messages: edits, fields, ...defined({ more }) };
}
