import { isShown } from '../../contract/record/agent-paths';
import type { EventBody, WireEvent } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import { jsonSize } from '../../contract/limits';
import type { StoredMessage } from '../../contract/messages/messages';
import { messagesOfInput } from '../../contract/messages/messages';
import { interruptMemoPrefix, names } from '../../contract/names';
import { SeenMessages } from '../../contract/record/seen-messages';
import type {
  AgentRunInput,
  AgentRunResult,
  CallModelInput,
  CallModelResult,
  CallToolInput,
  CallToolResult,
  Snapshot,
  StartInput,
} from '../../contract/record/wire';
import { checkedBytes, toolInputOf } from '../run/call-inputs';
import type { ModelCall, ToolCallRequest } from '../run/ports';
import { weighed, withoutChanges } from '../run/weight';
import { Ledger } from './ledger';
import { Outbox } from './outbox';

export interface LogWriter {
  writeMemo(values: Readonly<Record<string, unknown>>): void;
  /** Throws without room, because user code cannot wait. */
  takeForEvent(bytes: number): void;
  /** False: no room, so the step waits and asks again. */
  takeForStep(bytes: number): boolean;
}

type LastWords = Pick<AgentRunResult, 'base' | 'splices' | 'events'>;

const noRoom = new Error('This task has no room for it.');

/** A refused command leaves the events in the log. */
export class RunLog {
  private readonly ledger: Ledger;
  private readonly outbox: Outbox;
  private readonly seen: SeenMessages;
  private readonly start: StartInput;
  private offset: number;
  private memos: Record<string, unknown>[] = [];

  constructor(
    input: AgentRunInput,
    private readonly writer: LogWriter,
  ) {
    const { start, snapshot } = input;
    this.start = start;
    this.seen = new SeenMessages(input);
    this.ledger = new Ledger(snapshot?.lists ?? { [start.agent]: messagesOfInput(start.input) ?? [] }, snapshot?.shown ?? []);
    this.outbox = new Outbox(this.ledger);
    this.offset = snapshot?.nextOffset ?? 1;
  }

  get nextOffset(): number {
    return this.offset;
  }

  get hasEvents(): boolean {
    return !this.outbox.isEmpty;
  }

  get hasMemos(): boolean {
    return this.memos.length > 0;
  }

  knows(id: string): boolean {
    return this.ledger.knows(id);
  }

  /** Undefined: no room. */
  modelStep(call: ModelCall): CallModelInput | undefined {
    const { address, path, turn, messages, runLocal } = call;
    const input = this.step(`the model call ${address}`, (): CallModelInput => ({
      ...this.ledger.editFor(call),
      path,
      turn,
      ...(runLocal === undefined ? {} : { runLocal: runLocal.edit }),
      ...this.outbox.take(),
    }));
    if (input === undefined) return undefined;
    runLocal?.sent();
    this.seen.asked(path, messages);
    if (isShown(path)) this.offset += 1;
    return input;
  }

  modelCameBack({ path }: ModelCall, { message, waited }: CallModelResult): void {
    // The result itself tells readers of the wait.
    if (waited !== undefined && isShown(path)) this.offset += 1;
    this.ledger.learn(message);
    this.ledger.cameBack(path);
  }

  /** Undefined: no room. */
  toolStep(call: ToolCallRequest): CallToolInput | undefined {
    const input = this.step(`the call of tool "${call.tool}"`, (): CallToolInput => ({ ...toolInputOf(call), ...this.outbox.take() }));
    if (input === undefined) return undefined;
    call.runLocal?.sent();
    const isPart = call.hidden === true || call.resumed !== undefined || call.reconcile === true;
    if (!isPart && isShown(call.path)) this.offset += 1;
    return input;
  }

  toolCameBack({ hidden }: ToolCallRequest, { outcome }: CallToolResult): void {
    if ('messageId' in outcome && hidden !== true) this.ledger.learnId(outcome.messageId);
  }

  emit(event: EventBody): void {
    if ('runPath' in event && !isShown(event.runPath)) return;
    const bytes = this.bytesOf(event);
    if (event.type === 'custom' || event.type === 'agent-message') this.writer.takeForEvent(bytes);
    this.offset += 1;
    this.outbox.add(event, bytes);
    // A resumed run begins this answer anew.
    const isCutOff = event.type === 'model-end' && event.finish === 'cancelled';
    if ('message' in event && 'runPath' in event && !isCutOff) this.seen.told(event.runPath, event.message);
  }

  showInterrupt(interrupt: Interrupt): void {
    this.changeMemo(interrupt.id, interrupt);
  }

  hideInterrupt(id: string): void {
    this.changeMemo(id, null);
  }

  /** Readers get an interrupt from the memo, so even a short interrupt needs a command of its own. */
  private changeMemo(id: string, value: Interrupt | null): void {
    const key = interruptMemoPrefix + id;
    const last = this.memos.at(-1);
    if (last === undefined || key in last) this.memos.push({ [key]: value });
    else last[key] = value;
  }

  writeMemos(): void {
    const { memos } = this;
    this.memos = [];
    for (const values of memos) this.writeMemo(values);
  }

  flush(): void {
    this.writeMemos();
    while (!this.outbox.isEmpty) this.writeMemo({});
  }

  end<Made>(transcript: readonly StoredMessage[] | undefined, make: (last: LastWords) => Made): Made {
    this.writeExcess();
    return this.outbox.end(() => {
      const { agent, parent } = this.start;
      // The parent run keeps the result, too, so messages that readers have seen are left out.
      const isTold = transcript === undefined || (parent !== undefined && this.ledger.isRead(transcript, this.seen.messages));
      // The edit has the whole message, so a later event needs only the id.
      const edit = isTold ? {} : this.ledger.finalEdit(agent, transcript);
      return make({ ...edit, ...this.outbox.take() });
    });
  }

  continueAsNew<Made>(of: Pick<Snapshot, 'state' | 'lists'>, make: (snapshot: Snapshot) => Made): Made {
    this.writeExcess();
    return this.outbox.end(() => {
      const { events = [] } = this.outbox.take();
      return make(this.snapshot(of, events));
    });
  }

  snapshot({ state, lists }: Pick<Snapshot, 'state' | 'lists'>, events: readonly WireEvent[] = []): Snapshot {
    return { state, lists, ...this.seen.over(lists), nextOffset: this.offset, events };
  }

  private step<Input extends object>(what: string, make: () => Input): Input | undefined {
    this.writeExcess();
    try {
      return this.outbox.step(() => {
        const input = make();
        if (!this.writer.takeForStep(checkedBytes(weighed(input), what))) throw noRoom;
        return input;
      });
    } catch (error) {
      if (error === noRoom) return undefined;
      throw error;
    }
  }

  private bytesOf(event: EventBody): number {
    if (event.type === 'custom' || event.type === 'agent-message') return jsonSize(event);
    return isWithoutRoom(event) && !this.ledger.knows(event.message.id) ? jsonSize(withoutChanges(event)) : 0;
  }

  private writeExcess(): void {
    while (this.outbox.isOverfull) this.writeMemo({});
  }

  private writeMemo(values: Readonly<Record<string, unknown>>): void {
    const { events } = this.outbox.take();
    this.writer.writeMemo(events === undefined ? values : { ...values, [names.memo.events]: events });
  }
}

/** Events whose large message has no payload of its own. */
function isWithoutRoom(
  event: EventBody,
): event is Extract<EventBody, { readonly message: StoredMessage; readonly type: 'tool-end' | `message${string}` }> {
  return event.type === 'tool-end' || event.type === 'message' || event.type === 'message-queued' || event.type === 'message-changed';
}
