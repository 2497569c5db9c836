import type { Refuse } from '../../contract/check';
import type { AgentMiddleware } from './middleware';

/** Callbacks before and after an agent that runs others, made by `agentCallbacks`. */
export interface AroundAgent {
  readonly around: 'agent';
  readonly before: { readonly length: number };
  readonly after: { readonly length: number };
  asMiddleware(name?: string): AgentMiddleware;
}

export function checkedCallbacks(given: unknown, refuse: Refuse): readonly AgentMiddleware[] {
  if (given === undefined) return [];
  const { before, after, asMiddleware, around } = (given ?? {}) as Partial<AroundAgent>;
  if (before === undefined || after === undefined || typeof asMiddleware !== 'function' || around !== 'agent')
    return refuse(`callbacks must be a set made with agentCallbacks.`);
  if (before.length === 0 && after.length === 0)
    return refuse('callbacks must have at least one callback; register one, or leave them out.');
  return [(given as AroundAgent).asMiddleware('callbacks')];
}
