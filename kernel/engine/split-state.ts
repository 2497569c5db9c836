import { defined } from '../../contract/defined';
import type { StoredMessage } from '../../contract/messages/messages';
import { listOfConversation } from '../../contract/record/snapshot-messages';
import type { Addresses } from '../run/addresses';
import type { AgentRecord, RunState } from '../run/state';
import { withoutMessages } from '../run/state';

export interface SplitState {
  readonly state: RunState;
  readonly lists: Readonly<Record<string, readonly StoredMessage[]>>;
}

interface BesideState {
  readonly checkpoints: ReadonlyMap<string, AgentRecord>;
  readonly onceCalls: ReadonlyMap<string, string>;
  readonly addresses: Addresses;
}

export function splitState(whole: RunState, { checkpoints, onceCalls: open, addresses: used }: BesideState): SplitState {
  const agents: Record<string, AgentRecord> = {};
  const lists: Record<string, readonly StoredMessage[]> = {};
  for (const [key, record] of Object.entries(whole.agents)) {
    const checkpoint = checkpoints.get(key) ?? record;
    lists[key] = checkpoint.messages;
    agents[key] = { ...checkpoint, messages: [] };
  }
  const { addresses: _, onceCalls: __, ...state } = whole;
  const { sharedMessages } = state;
  const onceCalls = openOnceCalls(open, whole.journal);
  const addresses = used.over(agents);
  for (const [conversation, entries] of Object.entries(sharedMessages ?? {}))
    lists[listOfConversation(conversation)] = entries.map(({ message }) => message);
  return {
    state: {
      ...state,
      agents,
      ...defined({ addresses, onceCalls }),
      ...(sharedMessages === undefined ? {} : { sharedMessages: withoutMessages(sharedMessages) }),
    },
    lists,
  };
}

/** Layers around a model at work continue after a continue-as-new, so their calls are kept. */
function openOnceCalls(
  calls: ReadonlyMap<string, string>,
  journal: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> | undefined {
  const open = Object.keys(journal);
  const kept = [...calls].filter(([key]) => open.some((address) => key.startsWith(`${address}/model/`)));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
