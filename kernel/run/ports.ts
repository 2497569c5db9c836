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
  CallToolResult,
  ParseInputResult,
  ParseOutputResult,
  RequestSlots,
  RunLocalEdit,
  StartInput,
  StoredRequest,
  StreamMode,
} from '../../contract/record/wire';

/** The run-local values of a call. */
export interface ValuesToSend {
  readonly edit: RunLocalEdit;
  /** Told when the call is about to be scheduled: later calls may rest on it. */
  sent(): void;
}

/** A request, and where in the run it stands. */
export interface ModelCall extends StoredRequest {
  /** Also the id of its activity. */
  readonly address: string;
  readonly path: readonly string[];
  readonly turn: number;
  /** All of them: what the request does not have is null, so that an edit can take it back. */
  readonly slots: Required<RequestSlots>;
  readonly facts: ModelFacts;
  /** Undefined: there are none. */
  readonly runLocal?: ValuesToSend | undefined;
}

export interface ToolCallRequest {
  readonly address: string;
  readonly path: readonly string[];
  readonly tool: string;
  readonly callId: string;
  readonly input: Json;
  /** Of the parsed arguments, when a policy saw them; the worker runs nothing else. */
  readonly inputHash?: string;
  /** The arguments as the model gave them, when parsing changed them. */
  readonly rawInput?: Json;
  /** What the tool gets besides. Absent: nothing. */
  readonly options?: JsonObject;
  /** Idempotency key without the workflow's id, which the port puts before it. */
  readonly key: string;
  readonly facts: ToolFacts;
  readonly workerMiddleware: readonly WorkerMiddlewareRef[];
  readonly runLocal?: ValuesToSend;
  readonly resumed?: { readonly answer: Json; readonly state?: Json };
  readonly reconcile?: boolean;
  readonly hidden?: boolean;
  /** The run has values or tags for the tool. */
  readonly about?: true;
  readonly stream: StreamMode;
}

export interface Timer {
  readonly fired: Promise<void>;
  cancel(): void;
}

/** A run of its own that is part of this one: an isolated agent. */
export interface ChildRun {
  readonly place: string;
  readonly start: StartInput;
  /** It was cancelled with the run, or failed in it, and goes on where it stood. */
  readonly resumes?: true;
  /** Told of interrupts that open and end in it. Anybody who reaches the server can send such news. With its end comes what may not have come before. */
  hear(events: readonly unknown[], withEnd?: boolean): void;
}

/** How it ended, with what counts in either case. */
export type ChildEnd = { readonly usage?: ChildUsage; /** What it has set. */ readonly session?: JsonObject } & (
  { readonly output: Json; readonly text: string; readonly silent?: true } | { readonly failed: Failure; readonly kept?: KeptAtFailure }
);

/** Whether a failed isolated agent kept where it stood: then it goes on from there when its run is tried again. */
export type KeptAtFailure = true | { readonly refused: string };

/** Where in a run something was thrown. */
export interface ThrownAt {
  readonly agent: string;
  readonly tool?: string;
  readonly address?: string;
}

/**
 * All that the kernel asks of the world. Temporal is one implementation, virtual time in memory another. The commands behind calls, timers and interrupts are
 * made when the code rests, in the order of the places that asked: `place` is an address in the run.
 */
export interface Ports {
  prepare(request: ManifestRequest): Promise<Manifest>;
  callModel(call: ModelCall): Promise<CallModelResult>;
  callTool(call: ToolCallRequest): Promise<CallToolResult>;
  parseInput(place: string, tool: string, input: Json): Promise<ParseInputResult>;
  /** What a policy of the configuration asks about a call. */
  planPolicy(place: string, request: PolicyRequest): Promise<PolicyPlan>;
  /** Reads an answer by the schema of that name. */
  parseOutput(place: string, output: string, text: string): Promise<ParseOutputResult>;
  /** Starts the run of an isolated agent and waits for its end, also where it is cancelled. Throws only where it could not be started. */
  runChild(child: ChildRun): Promise<ChildEnd>;
  /** Hands an answer on to it. */
  answerChild(run: string, answer: Answer): void;
  /** Hands a cancel on to all isolated agents, or to one. */
  cancelChildren(request: CancelRequest, run?: string): void;
  /** An event of the durable log; it rides in the next command. */
  emit(event: EventBody): void;
  /** Told of what code of users threw and somebody caught, for the log of whoever runs it. Absent: nobody hears of it. */
  threw?(error: unknown, place: ThrownAt): void;
  /** Waits until there is room for an event with this message, when it stands in no history yet. Absent: there is room now. */
  roomFor(message: StoredMessage): Promise<void> | undefined;
  /** Waits for a task that has room to show an interrupt, and takes none of it. Absent: this one has. */
  roomToShow(interrupt: Interrupt): Promise<void> | undefined;
  /** Shows the interrupt in the memo, where people see the interrupt without a query to the run. */
  showInterrupt(interrupt: Interrupt): void;
  hideInterrupt(id: string): void;
  /** A deadline beside something else that is waited for. */
  timer(place: string, at: number): Timer;
  /** A continue-as-new may lie in it: the code that is entered again asks for the same moment. */
  sleep(place: string, until: number): Timer;
  /** Runs something when all code of the run has run as far as it can. Of several such things, one each time. */
  atRest(run: () => void): void;
  /** The time at which that happened which woke the code: what is late does not make the time later. */
  now(): number;
  uuid(): string;
  /** From 0 up to 1, the same in a replay. */
  random(): number;
  /** How often something has come back so far: a call, a sleep, an isolated agent. */
  readonly heard: number;
  /** Whether somebody has cancelled the run, or it was stopped. */
  readonly cancelled: boolean;
  /** Cancels all that is on its way, as somebody who cancels the run does: the run is about to end. */
  stop(error: HoldfastError): void;
  /** The offset of the next event of the log. */
  readonly nextOffset: number;
  /** Ends the calls of models that are under way, with what they said so far. Absent: nothing can. */
  stopModel?(): void;
  /** Called before a turn of a conversation begins. The checkpoint behind it may take the run elsewhere. */
  beforeTurn?(): void;
  /** Nothing is done, and whatever goes wrong is to be told. */
  readonly isTrial?: true;
  /** Called where nothing is open. No run goes on elsewhere while isolated agents of it run. Never settles when the run goes on elsewhere; returns nothing when it goes on here. */
  checkpoint(): Promise<void> | undefined;
}

/** Begins something that a continue-as-new may lie before. Entered again, the code asks for it again. */
export function atCheckpoint<T>(ports: Ports, begin: () => Promise<T>): Promise<T> {
  const checkpoint = ports.checkpoint();
  return checkpoint === undefined ? begin() : checkpoint.then(begin);
}
