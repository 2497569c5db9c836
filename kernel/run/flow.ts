import type { AgentScope } from './scope';
import type { Json } from '../../contract/messages/messages';
import { flowActionOf } from '../define/actions';

/** Keeps the last action that an agent has shown. Over a continue-as-new it stays what it is, whatever of the agent is entered again. */
export function noteAction({ run: { state }, path }: AgentScope, action: Json | undefined): void {
  if (action !== undefined && flowActionOf(action) !== undefined) state.actions = { ...state.actions, [path.join('/')]: action };
}
