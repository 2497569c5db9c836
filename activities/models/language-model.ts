import type { ToolSpec } from '../../contract/manifest';
import type { FinishReason, Json, JsonObject, Message, ModelSettings, Part, Usage } from '../../contract/messages/messages';

export interface GenerateRequest {
  readonly instructions: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  readonly settings: ModelSettings;
  readonly signal: AbortSignal;
  /** Tools that the model finds with the tool `search`. */
  readonly deferred?: { readonly tools: readonly ToolSpec[]; readonly search: ToolSpec };
  /** The answer's JSON Schema, for providers that can enforce a schema. */
  readonly output?: { readonly name: string; readonly schema: Json };
}

export interface GenerateAnswer {
  readonly parts: readonly Part[];
  readonly usage?: Usage;
  readonly finish?: FinishReason;
}

/** A piece of an answer. The pieces of a `block` become one part, in the first piece's place. */
export type ModelChunk =
  | { readonly type: 'text'; readonly text: string; readonly block?: string; readonly extra?: JsonObject }
  | { readonly type: 'reasoning'; readonly text: string; readonly block?: string; readonly extra?: JsonObject }
  /** The arguments while the model writes a call. The complete call follows as a part. */
  | { readonly type: 'tool-input-start'; readonly callId: string; readonly tool: string }
  | { readonly type: 'tool-input'; readonly callId: string; readonly text: string }
  | { readonly type: 'part'; readonly part: Part }
  /** The usage so far, replacing earlier reports. Broken and cancelled streams count, too. */
  | { readonly type: 'usage'; readonly usage: Usage }
  /** The last chunk. A stream without `finish` was cut off. */
  | { readonly type: 'finish'; readonly usage?: Usage; readonly finish?: FinishReason };

export interface LanguageModel {
  generate(request: GenerateRequest): Promise<GenerateAnswer>;
  /** The answer in pieces. Default: streaming runs get the answer in one piece. */
  stream?(request: GenerateRequest): AsyncIterable<ModelChunk>;
}

export interface ModelProvider {
  /** The environment variable of a required key. */
  readonly keyVariable?: string;
  /** The environment variable of an optional key. */
  readonly optionalKeyVariable?: string;
  /** Names missing requirements, such as a package. A list of models then goes on with its next model. */
  missing?(): string | undefined;
  model(name: string): LanguageModel | Promise<LanguageModel>;
}
