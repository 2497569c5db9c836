import type { ListedAgent } from '../../http/index';
import { usePoll } from './live';
import { service } from './service';

const none: readonly ListedAgent[] = [];

/** The agents that can be started. They change when somebody saves a file of the project. Undefined: they are not known yet. */
export function useAgentList(): { readonly agents: readonly ListedAgent[] | undefined; readonly error: unknown } {
  const { value, error } = usePoll('agents', () => service.agents(), 10_000);
  return { agents: value.value, error: error.value };
}

export function useAgents(): readonly ListedAgent[] {
  return useAgentList().agents ?? none;
}
