import type { AgentMiddleware } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';

/**
 * Says at which place of the list an answer of the model is shown: `model-end` has what passes there. Without it the answer is shown
 * as it comes out of all wraps.
 */
export function eventSenderModelWrapper(): AgentMiddleware {
  const middleware: AgentMiddleware = { name: 'eventSenderModelWrapper', wrapModel: (request, next) => next(request) };
  return withTraits(middleware, { isNumbered: true, showsHere: 'model' });
}

/** The same for the result of a tool and `tool-end`. A call that fails is shown with its error, wherever the sender stands. */
export function eventSenderToolWrapper(): AgentMiddleware {
  const middleware: AgentMiddleware = { name: 'eventSenderToolWrapper', wrapToolCall: (call, next) => next(call) };
  return withTraits(middleware, { isNumbered: true, showsHere: 'tool' });
}
