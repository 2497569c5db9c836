import type { AgentMiddleware } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';

/** `model-end` has the answer as it passes this place of the list. Without the wrapper: as it leaves all wraps. */
export function eventSenderModelWrapper(): AgentMiddleware {
  const middleware: AgentMiddleware = { name: 'eventSenderModelWrapper', wrapModel: (request, next) => next(request) };
  return withTraits(middleware, { isNumbered: true, showsHere: 'model' });
}

/** The same for `tool-end`. A failed call shows its error from any place. */
export function eventSenderToolWrapper(): AgentMiddleware {
  const middleware: AgentMiddleware = { name: 'eventSenderToolWrapper', wrapToolCall: (call, next) => next(call) };
  return withTraits(middleware, { isNumbered: true, showsHere: 'tool' });
}
