import type { Message, StoredMessage } from '../../contract/messages/messages';
import type { ModelRequest } from '../define/middleware';
import type { StoredResponse } from '../calls/model-call';
import type { ModelError } from '../define/retry-options';

export interface StoredRequest extends ModelRequest {
  readonly messages: readonly StoredMessage[];
}

/** How a call ended: with an answer, or with an error and perhaps half of one. */
export interface AttemptEnd<Response extends StoredResponse = StoredResponse> {
  readonly response?: Response;
  readonly error?: ModelError;
  readonly partial?: Message;
}

/** What stands in history already. A message that comes back unchanged keeps its id. */
export function knownMessages({ messages }: StoredRequest, output: Message | undefined): readonly StoredMessage[] {
  return output?.id === undefined ? messages : [...messages, { ...output, id: output.id }];
}
