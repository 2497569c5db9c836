import type { Failure } from '../../contract/messages/messages';

type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** What stands for the tools of an agent where a client expects the name of a server. */
export const serverLabel = 'holdfast';

export interface OutputText {
  readonly type: 'output_text';
  readonly text: string;
  readonly annotations: readonly never[];
}

export interface SummaryText {
  readonly type: 'summary_text';
  readonly text: string;
}

/** What a response has in its output, in the form of OpenAI. */
export type ResponseItem =
  | {
      readonly id: string;
      readonly type: 'message';
      readonly role: 'assistant';
      readonly status: ItemStatus;
      readonly content: readonly OutputText[];
    }
  | { readonly id: string; readonly type: 'reasoning'; readonly status: ItemStatus; readonly summary: readonly SummaryText[] }
  | {
      readonly id: string;
      readonly type: 'mcp_call';
      readonly server_label: string;
      readonly name: string;
      readonly arguments: string;
      readonly output: string | null;
      readonly error: string | null;
      readonly approval_request_id: string | null;
      readonly status: ItemStatus | 'failed';
    }
  | {
      readonly id: string;
      readonly type: 'mcp_approval_request';
      readonly server_label: string;
      readonly name: string;
      readonly arguments: string;
    }
  | {
      readonly id: string;
      readonly type: 'function_call';
      readonly call_id: string;
      readonly name: string;
      readonly arguments: string;
      readonly status: ItemStatus;
    };

export type ResponseStatus = 'queued' | 'in_progress' | 'completed' | 'failed' | 'cancelled' | 'incomplete';

export interface ResponseObject {
  readonly id: string;
  readonly object: 'response';
  readonly created_at: number;
  readonly status: ResponseStatus;
  readonly background: true;
  readonly error: Failure | null;
  readonly incomplete_details: { readonly reason: string } | null;
  readonly instructions: null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly model: string;
  readonly output: readonly ResponseItem[];
  readonly parallel_tool_calls: true;
  readonly previous_response_id: string | null;
  readonly store: true;
  readonly temperature: null;
  readonly tool_choice: 'auto';
  readonly tools: readonly never[];
  readonly top_p: null;
  readonly usage: ResponseUsage | null;
}

export interface ResponseUsage {
  readonly input_tokens: number;
  readonly input_tokens_details: { readonly cached_tokens: number };
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly reasoning_tokens: number };
  readonly total_tokens: number;
}

interface InItem {
  readonly item_id: string;
  readonly output_index: number;
}
type InContent = InItem & { readonly content_index: 0 };
type InSummary = InItem & { readonly summary_index: 0 };

/** An event about the output. Its number in the stream comes later. */
export type OutputEvent =
  | {
      readonly type: 'response.output_item.added' | 'response.output_item.done';
      readonly output_index: number;
      readonly item: ResponseItem;
    }
  | (InContent & { readonly type: 'response.content_part.added' | 'response.content_part.done'; readonly part: OutputText })
  | (InContent & { readonly type: 'response.output_text.delta'; readonly delta: string; readonly logprobs: readonly never[] })
  | (InContent & { readonly type: 'response.output_text.done'; readonly text: string; readonly logprobs: readonly never[] })
  | (InSummary & {
      readonly type: 'response.reasoning_summary_part.added' | 'response.reasoning_summary_part.done';
      readonly part: SummaryText;
    })
  | (InSummary & { readonly type: 'response.reasoning_summary_text.delta'; readonly delta: string })
  | (InSummary & { readonly type: 'response.reasoning_summary_text.done'; readonly text: string })
  | (InItem & { readonly type: 'response.function_call_arguments.delta'; readonly delta: string })
  | (InItem & { readonly type: 'response.function_call_arguments.done'; readonly name: string; readonly arguments: string });

/** An event of the stream before it has its number. */
export type UnnumberedEvent =
  | OutputEvent
  | {
      readonly type: 'response.created' | 'response.in_progress' | 'response.completed' | 'response.failed' | 'response.incomplete';
      readonly response: ResponseObject;
    }
  | { readonly type: 'error'; readonly code: string; readonly message: string; readonly param: null };

export type ResponseEvent = UnnumberedEvent & { readonly sequence_number: number };
