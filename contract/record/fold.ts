import { authorOf } from '../author';
import { defined } from '../defined';
import type { EndStatus, EventBody, RunEvent, RunStatus, RunView, WireEvent } from '../events';
import { isEnded } from '../events';
import type { HistoryFact } from './history-fact';
import type { Interrupt } from '../interrupts';
import type { Failure, Json, StoredMessage, ToolCall } from '../messages/messages';
import { messagesOfInput } from '../messages/messages';
import { interruptMemoPrefix, names, runIdOf } from '../names';
import { foreignInput, isRunInput } from './is-run-input';
import { textOfResult } from './run-result';
import type { AgentPath } from './agent-paths';
import { agentOfPath, isShown } from './agent-paths';
import { CallAddresses } from './call-addresses';
import { CancelRecord } from './cancel-record';
import { ConversationRecord } from './conversation-record';
import { childRunId } from './child-runs';
import { InterruptEnds } from './interrupt-ends';
import { messageById } from '../messages/context-messages';
import { isInterrupt } from '../interrupts';
import { interruptsInMemo } from './shown-in-memo';
import { SeenMessages, lostMessage } from './seen-messages';
import type { ListItem, Splice } from './splice';
import { applySplices } from './splice';
import { messageOfOutcome, toolStart } from './tool-outcomes';
import { type ScheduledCall, waitOf } from './model-waits';
import { RunUsage } from './run-usage';
import { WorkerChanges } from './worker-changes';
import type {
  AgentRunInput,
  AgentRunResult,
  CallModelInput,
  CallModelResult,
  CallToolInput,
  CallToolResult,
  ParentRun,
  StoredRequest,
} from './wire';

const keptRequests = 64;

/** Folds the history of a run without a worker or user code, so that runs stay readable after every deploy. */
export class HistoryFold {
  readonly messagesById = new Map<string, StoredMessage>();
  private readonly requests = new Map<string, StoredRequest & { readonly path: string }>();
  private readonly newest = new Map<string, string>();
  private startLists: Readonly<Record<string, readonly StoredMessage[]>> = {};
  private readonly scheduled = new Map<number, ScheduledCall>();
  private readonly interrupts = new Map<string, Interrupt>();
  private readonly addresses = new CallAddresses();
  private seen: SeenMessages | undefined;
  private conversation: ConversationRecord | undefined;
  private id = '';
  private agent = '';
  parent: ParentRun | undefined;
  private status: RunStatus = 'running';
  readonly used = new RunUsage();
  private readonly changes = new WorkerChanges();
  private output: Json | undefined;
  private text: string | undefined;
  private pendingToolCalls: readonly ToolCall[] | undefined;
  private error: Failure | undefined;
  private stuck: string | undefined;
  /** Only the server's count of attempts shows the outcome. */
  inDoubt = false;
  /** The problem of a task in doubt, as of the last look at the server. */
  doubt: string | undefined;
  /** The workflow was started without Holdfast. */
  private foreign = false;
  private stirred = false;
  readonly cancel = new CancelRecord();
  readonly ends = new InterruptEnds();
  /** Deliveries of answers before the last continue-as-new. */
  delivered: readonly string[] = [];
  private offset = 0;
  private started = false;
  nextRunId: string | undefined;

  add(fact: HistoryFact): readonly RunEvent[] {
    const bodies = this.bodiesOf(fact);
    return bodies.map((body) => ({ ...body, offset: this.offset++, time: fact.time }));
  }

  view(): RunView {
    const waits = this.interrupts.size > 0 && !this.stirred && !this.cancel.isRequested;
    const isIdle = this.conversation?.isIdle === true && !this.stirred && !this.cancel.isRequested;
    const open = this.status !== 'running' ? this.status : waits ? 'waiting' : isIdle ? 'idle' : 'running';
    const problem = this.foreign ? foreignInput : (this.stuck ?? this.doubt);
    const stuck = problem !== undefined && !this.ended;
    return {
      id: this.id,
      agent: this.agent,
      status: stuck ? 'stuck' : open,
      messages: this.seen?.messages ?? [],
      interrupts: this.ended ? [] : [...this.interrupts.values()],
      usage: this.used.all,
      nextOffset: this.offset,
      ...defined({ output: this.output, text: this.text, pendingToolCalls: this.pendingToolCalls }),
      ...this.cancel.viewOf(this.status === 'cancelled', !this.ended),
      ...defined({ conversation: this.conversation?.view({ status: this.status, error: this.error, author: authorOf(this.cancel.end) }) }),
      ...(stuck ? { error: { code: 'run-stuck', message: problem } } : this.error === undefined ? {} : { error: this.error }),
    };
  }

  get ended(): boolean {
    return isEnded(this.status);
  }

  get nextOffset(): number {
    return this.offset;
  }

  requestOf(activityId: string): StoredRequest | undefined {
    const request = this.requests.get(activityId);
    return request === undefined ? undefined : { messages: request.messages, slots: request.slots };
  }

  private bodiesOf(fact: HistoryFact): readonly EventBody[] {
    switch (fact.kind) {
      case 'start':
        return this.start(fact.workflowId, fact.input);
      case 'model-scheduled':
        return this.modelScheduled(fact.eventId, fact.activityId, fact.input);
      case 'tool-scheduled':
        return this.toolScheduled(fact.eventId, fact.activityId, fact.input);
      case 'activity-completed':
        return this.completed(fact.scheduledId, fact.result);
      case 'activity-closed':
        this.scheduled.delete(fact.scheduledId);
        return [];
      case 'memo':
        return this.memo(fact.values);
      case 'task-completed':
        this.stuck = undefined;
        this.inDoubt = false;
        this.doubt = undefined;
        this.stirred = false;
        return [];
      case 'stirred':
        if (fact.by === 'cancel') this.cancel.requested(fact.reason);
        else this.stirred = true;
        return [];
      case 'task-failed':
        if (fact.passing === true) this.inDoubt = true;
        else this.stuck = fact.message;
        return [];
      case 'continued':
        this.nextRunId = fact.nextRunId;
        return [];
      case 'end':
        return this.end(fact.status, fact.result, fact.error);
    }
  }

  private start(workflowId: string, input: AgentRunInput): readonly EventBody[] {
    this.nextRunId = undefined;
    this.stirred = false;
    this.scheduled.clear();
    this.requests.clear();
    this.newest.clear();
    this.id = runIdOf(workflowId);
    this.foreign = !isRunInput(input);
    if (this.foreign) return [];
    const { start, snapshot } = input;
    Object.assign(this, { status: 'running', error: undefined, agent: start.agent, parent: start.parent });
    this.cancel.begins(snapshot);
    if (snapshot === undefined) {
      const messages = messagesOfInput(start.input) ?? [];
      this.startLists = { [start.agent]: messages };
      this.learn(messages);
      this.seen = new SeenMessages(input);
      if (start.conversation !== undefined) this.conversation = new ConversationRecord(input);
      this.started = true;
      return [{ type: 'run-start', agent: start.agent, input: start.input, ...authorOf(start) }];
    }
    this.startLists = snapshot.lists;
    this.delivered = (snapshot.state as { delivered?: readonly string[] }).delivered ?? [];
    for (const messages of Object.values(snapshot.lists)) this.learn(messages);
    this.learn(snapshot.shown);
    this.learnNew(snapshot.seen);
    if (!this.started || snapshot.retried === true) this.restore(snapshot.state, snapshot.nextOffset - snapshot.events.length);
    const { started } = this;
    const { all, byModel } = this.used;
    this.started = true;
    const events = this.expand(snapshot.events);
    // The state of the snapshot counts this usage.
    if (!started) Object.assign(this.used, { all, byModel });
    this.seen = new SeenMessages(input);
    if (start.conversation !== undefined) this.conversation = new ConversationRecord(input);
    return events;
  }

  private restore(state: unknown, nextOffset: number): void {
    const { interrupts, expired, withdrawn } = state as {
      interrupts?: readonly { readonly shown: Interrupt }[];
      expired?: readonly string[];
      withdrawn?: readonly string[];
    };
    this.ends.restore(expired, withdrawn);
    for (const { shown } of interrupts ?? []) if (isInterrupt(shown)) this.interrupts.set(shown.id, shown);
    this.used.restore(state);
    this.offset = nextOffset;
  }

  private modelScheduled(eventId: number, activityId: string, input: CallModelInput): readonly EventBody[] {
    this.learnNew(input.splices);
    const events = this.expand(input.events);
    const key = input.path.join('/');
    const base = this.baseOf(input.base, key);
    const list = applySplices(base.messages, input.splices ?? [], (item) => this.messageOf(item));
    this.requests.set(activityId, { messages: list, slots: { ...base.slots, ...input.slots }, path: key });
    this.forgetRequests(key, activityId);
    this.seen?.asked(input.path, list);
    this.scheduled.set(eventId, { activityId, model: input });
    this.addresses.model(input, activityId);
    const { path, turn } = input;
    if (!isShown(path)) return events;
    return [...events, { type: 'model-start', agent: agentOfPath(path), runPath: path, turn, address: activityId }];
  }

  /** Edits refer to the last list of the agent. */
  private forgetRequests(key: string, activityId: string): void {
    this.newest.set(key, activityId);
    if (this.requests.size <= keptRequests + this.newest.size) return;
    for (const [old, { path }] of this.requests) {
      if (this.newest.get(path) === old) continue;
      this.requests.delete(old);
      return;
    }
  }

  private toolScheduled(eventId: number, activityId: string, input: CallToolInput): readonly EventBody[] {
    const events = this.expand(input.events);
    this.scheduled.set(eventId, { activityId, tool: input });
    const isPart = input.hidden === true || input.resumed !== undefined || input.reconcile === true;
    if (isPart || !isShown(input.path)) return events;
    const again = this.addresses.isAgain(input, activityId);
    const started = toolStart(activityId, input);
    this.addresses.of(started);
    return [...events, again ? { ...started, again } : started];
  }

  private completed(scheduledId: number, result: unknown): readonly EventBody[] {
    const origin = this.scheduled.get(scheduledId);
    this.scheduled.delete(scheduledId);
    if (origin === undefined) return [];
    this.changes.cameBack(origin.activityId, result);
    if (origin.tool !== undefined) this.addresses.cameBack(origin.tool, origin.activityId);
    if (origin.tool === undefined) {
      const { message, usage, model = this.requests.get(origin.activityId)?.slots.model ?? '' } = result as CallModelResult;
      if (message !== undefined) this.messagesById.set(message.id, message);
      this.used.called(model, usage);
      return waitOf(origin, result as CallModelResult);
    }
    return this.learn([messageOfOutcome(origin.tool, result as CallToolResult) ?? []].flat());
  }

  private memo(values: Readonly<Record<string, unknown>>): readonly EventBody[] {
    const { shown, ended: hidden } = interruptsInMemo(values);
    for (const [id, interrupt] of shown) this.interrupts.set(id, interrupt);
    const events = this.expand(values[names.memo.events] as readonly WireEvent[] | undefined);
    // An ending run leaves its questions in the memo.
    const left = events.flatMap((event) => (event.type === 'interrupt-end' && event.reason === 'cancel' ? [event.interruptId] : []));
    for (const id of [...hidden, ...left.filter((id) => values[interruptMemoPrefix + id] === undefined)]) this.interrupts.delete(id);
    return events;
  }

  private end(status: EndStatus, result: AgentRunResult | undefined, error: Failure | undefined): readonly EventBody[] {
    // The edit or the event has the whole message, whichever came first.
    this.learnNew(result?.splices);
    const events = this.expand(result?.events);
    if (result?.splices !== undefined) {
      const base = this.baseOf(result.base, this.agent).messages;
      this.seen?.ended(applySplices(base, result.splices, (item) => this.messageOf(item)));
    }
    this.status = status;
    this.output = result?.output;
    this.text = result === undefined ? undefined : textOfResult(result);
    this.pendingToolCalls = result?.pendingToolCalls;
    this.error = error;
    this.interrupts.clear();
    return [
      ...events,
      {
        type: 'run-end',
        status,
        ...defined({ output: this.output, text: this.text, pendingToolCalls: this.pendingToolCalls, error }),
        ...(status === 'cancelled' ? this.cancel.end : {}),
      },
    ];
  }

  private expand(events: readonly WireEvent[] | undefined): readonly EventBody[] {
    if (events === undefined) return [];
    return events.map((event) => {
      const expanded: Record<string, unknown> = { ...event };
      const body = event as unknown as EventBody;
      if (body.type === 'tool-start' && this.addresses.isAgain({ ...body, path: body.runPath }, body.address)) expanded['again'] = true;
      const address = this.addresses.of(body);
      if (address !== undefined) Object.assign(expanded, { address }, this.changes.join(body, address));
      if (event.message !== undefined) {
        const message = this.messageOf(event.message);
        this.messagesById.set(message.id, message);
        expanded['message'] = message;
        const isCutOff = event['finish'] === 'cancelled';
        if (event['runPath'] !== undefined)
          this.seen?.told(event['runPath'] as readonly string[], isCutOff ? { ...message, partial: true } : message);
      }
      this.ends.hear(event);
      this.cancel.hear(body);
      if (event['run'] === true) expanded['run'] = childRunId(this.id, event['runPath'] as AgentPath);
      Object.assign(expanded, this.used.ofChild(event));
      if (typeof event.interrupt === 'string') expanded['interrupt'] = this.interrupts.get(event.interrupt);
      this.conversation?.add(expanded as unknown as EventBody);
      return expanded as unknown as EventBody;
    });
  }

  private baseOf(base: string | undefined, key: string): StoredRequest {
    if (base === undefined) return { messages: [], slots: {} };
    if (base === 'start') return { messages: this.startLists[key] ?? [], slots: {} };
    return this.requests.get(base) ?? { messages: [], slots: {} };
  }

  private messageOf(item: ListItem): StoredMessage {
    if (typeof item !== 'string') return item;
    return messageById(item, (id) => this.messagesById.get(id)) ?? lostMessage(item);
  }

  private learn(messages: readonly StoredMessage[]): readonly EventBody[] {
    for (const message of messages) this.messagesById.set(message.id, message);
    return [];
  }

  private learnNew(splices: readonly Splice[] = []): void {
    for (const [, , insert] of splices) this.learn(insert.filter((item): item is StoredMessage => typeof item !== 'string'));
  }
}
