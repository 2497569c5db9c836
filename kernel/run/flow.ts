import type { AgentScope } from './scope';
import type { Json } from '../../contract/messages/messages';
import { flowActionOf } from '../define/actions';

/** Keeps the last action of an agent, also over a continue-as-new. */
export function noteAction({ run: { state }, path }: AgentScope, action: Json | undefined): void {
  if (action !== undefined && flowActionOf(action) !== undefined) state.actions = { ...state.actions, [path.join('/')]: action };
}
