import type { Failure, FinishReason, Json, JsonObject, Message, ModelSettings, Usage } from './messages/messages';

interface ObservedPlace {
  readonly agent: string;
  readonly runId: string;
  /** The place in the run, equal at start and end. */
  readonly id: string;
  /** The attempt of the call, only on the worker. */
  readonly attempt?: number;
  /** Milliseconds since 1970, by the worker's clock or the run's clock. */
  readonly startedAt: number;
}

export interface ObservedRequest {
  readonly instructions: string;
  readonly messages: readonly Message[];
  readonly tools: readonly string[];
  readonly model: string;
  readonly settings?: ModelSettings;
}

export interface ObservedResponse {
  readonly message: Message;
  readonly usage?: Usage;
  readonly finish?: FinishReason;
}

type ObservedAgent = ObservedPlace & { readonly kind: 'agent' };
type ObservedModel = ObservedPlace & { readonly kind: 'model'; readonly model: string };
type ObservedTool = ObservedPlace & { readonly kind: 'tool'; readonly tool: string; readonly callId: string };
interface ObservedUntil {
  readonly endedAt: number;
}

export type Observed =
  | (ObservedAgent & { readonly input: readonly Message[] })
  | (ObservedModel & { readonly request: ObservedRequest })
  | (ObservedTool & { readonly input: Json; readonly options: JsonObject });

export type ObservedEnd =
  | (ObservedAgent & ObservedUntil & { readonly output: Json; readonly usage: Usage })
  | (ObservedModel & ObservedUntil & { readonly response: ObservedResponse })
  /** `interrupted`, only on the worker: the tool asked a person and will run again. */
  | (ObservedTool & ObservedUntil & { readonly output: Json; readonly interrupted?: true });

export type ObservedError = (ObservedAgent | ObservedModel | ObservedTool) & ObservedUntil & { readonly error: Failure };

/** Observes agents, model calls and tool calls. `onEnd` or `onError` follows each `onStart` with the same `id`. */
export interface Observer {
  readonly name: string;
  /** Observed agents. Default: all. */
  readonly agents?: readonly string[];
  onStart?(observed: Observed): void | Promise<void>;
  onEnd?(observed: ObservedEnd): void | Promise<void>;
  onError?(observed: ObservedError): void | Promise<void>;
}
