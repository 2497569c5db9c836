import type * as OpenAI from 'openai/resources/responses/responses';
import type { Failure } from '../../contract/messages/messages';

/** For clients that expect a server's name with tools. */
export const serverLabel = 'holdfast';

export type ResponseItem = Extract<
  OpenAI.ResponseOutputItem,
  { type: 'message' | 'reasoning' | 'mcp_call' | 'mcp_approval_request' | 'function_call' }
>;

/** Has Holdfast's error codes, and counts no writes to a cache. */
export interface ResponseObject extends Omit<OpenAI.Response, 'output_text' | 'metadata' | 'output' | 'error' | 'usage'> {
  readonly error: Failure | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly output: readonly ResponseItem[];
  readonly store: true;
  readonly usage: ResponseUsage | null;
}

export interface ResponseUsage extends Omit<OpenAI.ResponseUsage, 'input_tokens_details'> {
  readonly input_tokens_details: Pick<OpenAI.ResponseUsage.InputTokensDetails, 'cached_tokens'>;
}

type Unnumbered<Event> = Event extends unknown ? Omit<Event, 'sequence_number'> : never;

export type OutputEvent = Unnumbered<
  Extract<
    OpenAI.ResponseStreamEvent,
    {
      type:
        | `response.output_item.${'added' | 'done'}`
        | `response.content_part.${'added' | 'done'}`
        | `response.output_text.${'delta' | 'done'}`
        | `response.reasoning_summary_${'part' | 'text'}.${'added' | 'delta' | 'done'}`
        | `response.function_call_arguments.${'delta' | 'done'}`;
    }
  >
>;

export type UnnumberedEvent =
  | OutputEvent
  | { readonly type: `response.${'created' | 'in_progress' | 'completed' | 'failed' | 'incomplete'}`; readonly response: ResponseObject }
  | { readonly type: 'error'; readonly code: string; readonly message: string; readonly param: null };

export type ResponseEvent = UnnumberedEvent & { readonly sequence_number: number };
