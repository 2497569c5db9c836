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
  /** Called just before the call is scheduled, because later calls may build on its values. */
  sent(): void;
}

export interface ModelCall extends StoredRequest {
  readonly address: string;
  readonly path: readonly string[];
  readonly turn: number;
  /** An absent slot is null, so an edit can remove the slot. */
  readonly slots: Required<RequestSlots>;
  readonly facts: ModelFacts;
  readonly runLocal?: ValuesToSend | undefined;
}

type AsRecorded =
  'tool' | 'callId' | 'input' | 'inputHash' | 'rawInput' | 'options' | 'path' | 'resumed' | 'hidden' | 'about' | 'author' | 'mcp';

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
  /** Goes on from where the isolated agent was cancelled or failed. */
  readonly resumes?: true;
  /** `withEnd`: the end repeats news that may be missing. */
  hear(events: readonly unknown[], withEnd?: boolean): void;
}

export type ChildEnd = { readonly usage?: ChildUsage; readonly session?: JsonObject } & (
  { readonly output: Json; readonly text: string; readonly silent?: true } | { readonly failed: Failure; readonly kept?: KeptAtFailure }
);

export type KeptAtFailure = true | { readonly refused: string };

export interface ThrownAt {
  readonly agent: string;
  readonly tool?: string;
  readonly address?: string;
}

/**
 * Implemented by Temporal and by virtual time in memory. Commands are made when the code rests, in the order of their `place`, an address
 * in the run.
 */
export interface Ports {
  prepare(request: ManifestRequest): Promise<Manifest>;
  callModel(call: ModelCall): Promise<CallModelResult>;
  callTool(call: ToolCallRequest): Promise<CallToolResult>;
  /** `schema`: of a tool of an MCP server. */
  parseInput(place: string, tool: string, input: Json, schema?: Json): Promise<ParseInputResult>;
  planPolicy(place: string, request: PolicyRequest): Promise<PolicyPlan>;
  parseOutput(place: string, output: string, text: string): Promise<ParseOutputResult>;
  /** Waits for the end even after a cancel. Throws only if the agent could not start. */
  runChild(child: ChildRun): Promise<ChildEnd>;
  answerChild(run: string, answer: Answer): void;
  cancelChildren(request: CancelRequest, run?: string): void;
  emit(event: EventBody): void;
  threw?(error: unknown, place: ThrownAt): void;
  /** Waits for room for a message that is new to the history. Undefined: there is room. */
  roomFor(message: StoredMessage): Promise<void> | undefined;
  /** Waits for room to show an interrupt, without taking the room. Undefined: there is room. */
  roomToShow(interrupt: Interrupt): Promise<void> | undefined;
  /** Shows the interrupt in the memo, where clients see it without a query. */
  showInterrupt(interrupt: Interrupt): void;
  hideInterrupt(id: string): void;
  timer(place: string, at: number): Timer;
  /** A continue-as-new may happen during the sleep: re-entered code asks for the same moment. */
  sleep(place: string, until: number): Timer;
  atRest(run: () => void): void;
  /** The time of the event that woke the code, so a late worker does not shift the time. */
  now(): number;
  uuid(): string;
  random(): number;
  readonly heard: number;
  readonly cancelled: boolean;
  stop(error: HoldfastError): void;
  readonly nextOffset: number;
  /** Ends open model calls, which keep their partial answers. Absent: not possible. */
  stopModel?(): void;
  /** Called before a turn begins. The checkpoint after it may move the run. */
  beforeTurn?(): void;
  /** A trial has no effects, and reports every problem. */
  readonly isTrial?: true;
  /** Called where no call is open. Undefined: the run goes on in this execution. If the run continues as new, the promise never settles. */
  checkpoint(): Promise<void> | undefined;
}

export function atCheckpoint<T>(ports: Ports, begin: () => Promise<T>): Promise<T> {
  const checkpoint = ports.checkpoint();
  return checkpoint === undefined ? begin() : checkpoint.then(begin);
}
