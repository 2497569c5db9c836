import type { CancelRequest } from '../../contract/cancel';
import type { HoldfastError } from '../../contract/errors';
import type { EventBody } from '../../contract/events';
import type { Answer, Interrupt } from '../../contract/interrupts';
import type { WorkerMiddlewareRef, Manifest, ManifestRequest, ModelFacts, ToolFacts } from '../../contract/manifest';
import type { Failure, Json, JsonObject, StoredMessage } from '../../contract/messages/messages';
import type { ChildUsage } from '../../contract/usage';
import type { PolicyPlan, PolicyRequest } from '../../contract/policies';
import type {
  CallModelResult,
  CallToolInput,
  CallToolResult,
  ParseInputResult,
  ParseOutputResult,
  RequestSlots,
  RunLocalEdit,
  StartInput,
  StoredRequest,
  StreamMode,
} from '../../contract/record/wire';

export interface ValuesToSend {
  readonly edit: RunLocalEdit;
  /** Told when the call is about to be scheduled, because later calls may rest on its values. */
  sent(): void;
}

export interface ModelCall extends StoredRequest {
  /** Also the id of the activity. */
  readonly address: string;
  readonly path: readonly string[];
  readonly turn: number;
  /** An absent slot is null, so an edit can remove the slot. */
  readonly slots: Required<RequestSlots>;
  readonly facts: ModelFacts;
  readonly runLocal?: ValuesToSend | undefined;
}

type AsRecorded = 'tool' | 'callId' | 'input' | 'inputHash' | 'rawInput' | 'options' | 'path' | 'resumed' | 'hidden' | 'about';

export interface ToolCallRequest extends Pick<CallToolInput, AsRecorded> {
  readonly address: string;
  /** Idempotency key without the workflow's id, which the port adds. */
  readonly key: string;
  readonly facts: ToolFacts;
  readonly workerMiddleware: readonly WorkerMiddlewareRef[];
  readonly runLocal?: ValuesToSend;
  readonly reconcile?: boolean;
  readonly stream: StreamMode;
}

export interface Timer {
  readonly fired: Promise<void>;
  cancel(): void;
}

export interface ChildRun {
  readonly place: string;
  readonly start: StartInput;
  /** Cancelled with the run, or failed in the run, and goes on from there. */
  readonly resumes?: true;
  /** Told of interrupts of the agent. Anybody who reaches the server can send such news. The end repeats news that may be missing. */
  hear(events: readonly unknown[], withEnd?: boolean): void;
}

export type ChildEnd = { readonly usage?: ChildUsage; /** What it has set. */ readonly session?: JsonObject } & (
  { readonly output: Json; readonly text: string; readonly silent?: true } | { readonly failed: Failure; readonly kept?: KeptAtFailure }
);

/** Whether a failed isolated agent kept its state for a retry of its run. */
export type KeptAtFailure = true | { readonly refused: string };

/** Where in a run something was thrown. */
export interface ThrownAt {
  readonly agent: string;
  readonly tool?: string;
  readonly address?: string;
}

/**
 * Everything that the kernel asks of the world, implemented by Temporal and by virtual time in memory. Commands for calls, timers and interrupts are
 * made when the code rests, in the order of their `place`, an address in the run.
 */
export interface Ports {
  prepare(request: ManifestRequest): Promise<Manifest>;
  callModel(call: ModelCall): Promise<CallModelResult>;
  callTool(call: ToolCallRequest): Promise<CallToolResult>;
  parseInput(place: string, tool: string, input: Json): Promise<ParseInputResult>;
  planPolicy(place: string, request: PolicyRequest): Promise<PolicyPlan>;
  parseOutput(place: string, output: string, text: string): Promise<ParseOutputResult>;
  /** Starts an isolated agent and waits for its end, also after a cancel. Throws only if the agent could not start. */
  runChild(child: ChildRun): Promise<ChildEnd>;
  answerChild(run: string, answer: Answer): void;
  cancelChildren(request: CancelRequest, run?: string): void;
  /** An event of the durable log, carried by the next command. */
  emit(event: EventBody): void;
  /** Told of a caught error of user code, for the worker's log. */
  threw?(error: unknown, place: ThrownAt): void;
  /** Waits for room for an event with a message that is new to the history. Absent: there is room. */
  roomFor(message: StoredMessage): Promise<void> | undefined;
  /** Waits for a task with room to show an interrupt, without taking the room. Absent: there is room. */
  roomToShow(interrupt: Interrupt): Promise<void> | undefined;
  /** Shows the interrupt in the memo, where people see it without a query. */
  showInterrupt(interrupt: Interrupt): void;
  hideInterrupt(id: string): void;
  /** A deadline beside another wait. */
  timer(place: string, at: number): Timer;
  /** A continue-as-new may happen during the sleep: re-entered code asks for the same moment. */
  sleep(place: string, until: number): Timer;
  /** Runs something when all code of the run rests, one thing each time. */
  atRest(run: () => void): void;
  /** The time of the event that woke the code. A late worker does not make the time later. */
  now(): number;
  uuid(): string;
  /** From 0 up to 1, the same in a replay. */
  random(): number;
  /** How often something came back: a call, a sleep, an isolated agent. */
  readonly heard: number;
  readonly cancelled: boolean;
  /** Cancels everything under way, like a cancel of the run. */
  stop(error: HoldfastError): void;
  readonly nextOffset: number;
  /** Ends open model calls, which keep what they have said. Absent: not possible. */
  stopModel?(): void;
  /** Called before a turn begins. The checkpoint after it may move the run. */
  beforeTurn?(): void;
  /** A trial: nothing is done, and every problem is told. */
  readonly isTrial?: true;
  /**
   * Called where nothing is open. A run with open isolated agents never goes on elsewhere. Never settles when the run goes on elsewhere; undefined
   * when the run goes on here.
   */
  checkpoint(): Promise<void> | undefined;
}

/** Begins something after a possible continue-as-new. Re-entered code asks again. */
export function atCheckpoint<T>(ports: Ports, begin: () => Promise<T>): Promise<T> {
  const checkpoint = ports.checkpoint();
  return checkpoint === undefined ? begin() : checkpoint.then(begin);
}
