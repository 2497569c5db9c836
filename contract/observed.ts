import type { Failure, FinishReason, Json, JsonObject, Message, ModelSettings, Usage } from './messages/messages';

interface ObservedPlace {
  readonly agent: string;
  readonly runId: string;
  /** Where in the run it stands: the same at its start and its end. */
  readonly id: string;
  /** Only on the worker: which try of the call it is. */
  readonly attempt?: number;
  /** Milliseconds since 1970: on the worker by its clock, in the workflow by that of the run. */
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

/** An agent, a model call or a tool call that begins. */
export type Observed =
  | (ObservedAgent & { readonly input: readonly Message[] })
  | (ObservedModel & { readonly request: ObservedRequest })
  | (ObservedTool & { readonly input: Json; readonly options: JsonObject });

/** The same at its end. */
export type ObservedEnd =
  | (ObservedAgent & ObservedUntil & { readonly output: Json; readonly usage: Usage })
  | (ObservedModel & ObservedUntil & { readonly response: ObservedResponse })
  /** `interrupted` on the worker: the tool asked a person and will be entered again. */
  | (ObservedTool & ObservedUntil & { readonly output: Json; readonly interrupted?: true });

/** The same when it failed. */
export type ObservedError = (ObservedAgent | ObservedModel | ObservedTool) & ObservedUntil & { readonly error: Failure };

/**
 * Looks on at agents, model calls and tool calls; it changes nothing. Each `onStart` is followed by `onEnd` or `onError` with the same `id`.
 * A middleware of the workflow side has the same functions, with its `ctx`.
 */
export interface Observer {
  readonly name: string;
  /** Only what belongs to these agents. Default: all. */
  readonly agents?: readonly string[];
  onStart?(observed: Observed): void | Promise<void>;
  onEnd?(observed: ObservedEnd): void | Promise<void>;
  onError?(observed: ObservedError): void | Promise<void>;
}
