import type { JsonObject } from '../../contract/messages/messages';
import type { AgentSummary } from '../project/load-project';

export function capabilitiesOf({ name, description, tools = [], clientTools }: AgentSummary): JsonObject {
  return {
    identity: { name, description, type: 'holdfast' },
    transport: { streaming: true, websocket: false, httpBinary: false, pushNotifications: false, resumable: true },
    tools: {
      supported: true,
      parallelCalls: true,
      clientProvided: clientTools !== undefined,
      items: tools.map((tool) => ({ name: tool })),
    },
    state: { snapshots: true, deltas: true, memory: true, persistentState: true },
    reasoning: { supported: true, streaming: true },
    humanInTheLoop: { supported: true, approvals: true, interrupts: true, approveWithEdits: true },
  };
}
