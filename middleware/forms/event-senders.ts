import { numbered } from '../../kernel/define/classic-middleware';
import type { AgentMiddleware } from '../../kernel/define/middleware';
import { senderMark } from '../../kernel/define/event-sender-mark';
import type { Sent } from '../../kernel/define/event-sender-mark';

/**
 * Says at which place of the list an answer of the model is shown: `model-end` has what passes there. Without it the answer is shown
 * as it comes out of all wraps.
 */
export function eventSenderModelWrapper(): AgentMiddleware {
  return sender('model', { name: 'eventSenderModelWrapper', wrapModel: (request, next) => next(request) });
}

/** The same for the result of a tool and `tool-end`. A call that fails is shown with its error, wherever the sender stands. */
export function eventSenderToolWrapper(): AgentMiddleware {
  return sender('tool', { name: 'eventSenderToolWrapper', wrapToolCall: (call, next) => next(call) });
}

function sender(sent: Sent, middleware: AgentMiddleware): AgentMiddleware {
  return Object.assign(numbered(middleware), { [senderMark]: sent });
}
