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

/** What an engine does for the log of its run. */
export interface LogWriter {
  /** Writes a command that is for readers only. */
  writeMemo(values: Readonly<Record<string, unknown>>): void;
  /** Takes room for an event that code of the agent sends. Throws where there is none: that code cannot wait. */
  takeForEvent(bytes: number): void;
  /** Takes room for the input of a step. False: the step has to wait, and is asked for again. */
  takeForStep(bytes: number): boolean;
}

/** How the last list of the root agent differs from the one before, and the events that no command took along. */
type LastWords = Pick<AgentRunResult, 'base' | 'splices' | 'events'>;

/** What noted it, to undo all of the step. */
const noRoom = new Error('This task has no room for it.');

/**
 * The record of one run, as both engines keep it: what history has, what readers have seen, and the events that wait for the next command.
 * Only a command takes events along. One that is refused leaves them here.
 */
export class RunLog {
  private readonly ledger: Ledger;
  private readonly outbox: Outbox;
  private readonly seen: SeenMessages;
  private readonly start: StartInput;
  private offset: number;
  /** The changes of the memo that no command has made yet, one object for each command. */
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

  /** The offset of the next event that readers see. */
  get nextOffset(): number {
    return this.offset;
  }

  /** Whether events wait for a command. */
  get hasEvents(): boolean {
    return !this.outbox.isEmpty;
  }

  /** Whether changes of the memo wait for a command. */
  get hasMemos(): boolean {
    return this.memos.length > 0;
  }

  /** Whether history has this message, whole. */
  knows(id: string): boolean {
    return this.ledger.knows(id);
  }

  /** The input of a model call that is about to be scheduled. Undefined: there is no room for it now, and all is as before. */
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
    // Readers see from the result itself that the call waited.
    if (waited !== undefined && isShown(path)) this.offset += 1;
    this.ledger.learn(message);
    this.ledger.cameBack(path);
  }

  /** The input of a tool call that is about to be scheduled. Undefined: there is no room for it now, and all is as before. */
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
    // A run that is gone on with begins that answer anew.
    const isCutOff = event.type === 'model-end' && event.finish === 'cancelled';
    if ('message' in event && 'runPath' in event && !isCutOff) this.seen.told(event.runPath, event.message);
  }

  showInterrupt(interrupt: Interrupt): void {
    this.changeMemo(interrupt.id, interrupt);
  }

  hideInterrupt(id: string): void {
    this.changeMemo(id, null);
  }

  /** Readers get an interrupt from the memo, so an interrupt that is over at once is still shown by a command of its own. */
  private changeMemo(id: string, value: Interrupt | null): void {
    const key = interruptMemoPrefix + id;
    const last = this.memos.at(-1);
    if (last === undefined || key in last) this.memos.push({ [key]: value });
    else last[key] = value;
  }

  /** Changes the memo. The first change takes the events along. */
  writeMemos(): void {
    const { memos } = this;
    this.memos = [];
    for (const values of memos) this.writeMemo(values);
  }

  /** Writes all that no command has taken along. */
  flush(): void {
    this.writeMemos();
    while (!this.outbox.isEmpty) this.writeMemo({});
  }

  /** The end of a run, which takes the last events along. What `make` refuses ends no run: the events stay for another command. */
  end<Made>(transcript: readonly StoredMessage[] | undefined, make: (last: LastWords) => Made): Made {
    this.writeExcess();
    return this.outbox.end(() => {
      const { agent, parent } = this.start;
      // The run that an isolated agent is part of keeps the result too. What readers have seen need not stand in both.
      const isTold = transcript === undefined || (parent !== undefined && this.ledger.isRead(transcript, this.seen.messages));
      // A message stands whole in the edit, and the event behind it names it.
      const edit = isTold ? {} : this.ledger.finalEdit(agent, transcript);
      return make({ ...edit, ...this.outbox.take() });
    });
  }

  /** The continue-as-new of a run, which takes the last events along. They stay here when `make` refuses it. */
  continueAsNew<Made>(of: Pick<Snapshot, 'state' | 'lists'>, make: (snapshot: Snapshot) => Made): Made {
    this.writeExcess();
    return this.outbox.end(() => {
      const { events = [] } = this.outbox.take();
      return make(this.snapshot(of, events));
    });
  }

  /** What a run would go on with. It takes no events along. */
  snapshot({ state, lists }: Pick<Snapshot, 'state' | 'lists'>, events: readonly WireEvent[] = []): Snapshot {
    return { state, lists, ...this.seen.over(lists), nextOffset: this.offset, events };
  }

  /** Makes the input of a step. One that there is no room for is undone. */
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

  /** Writes the events that the next command cannot take along. */
  private writeExcess(): void {
    while (this.outbox.isOverfull) this.writeMemo({});
  }

  private writeMemo(values: Readonly<Record<string, unknown>>): void {
    const { events } = this.outbox.take();
    this.writer.writeMemo(events === undefined ? values : { ...values, [names.memo.events]: events });
  }
}

/** Events with a message that may be large and stands in no payload of its own. */
function isWithoutRoom(
  event: EventBody,
): event is Extract<EventBody, { readonly message: StoredMessage; readonly type: 'tool-end' | `message${string}` }> {
  return event.type === 'tool-end' || event.type === 'message' || event.type === 'message-queued' || event.type === 'message-changed';
}
