import type { JsonObject } from '../../contract/messages/messages';
import type { AgentSummary } from '../project/load-project';
import { packageVersion } from '../http/package-version';
import { a2aVersion } from './wire';

export function cardOf(
  { name, description }: Pick<AgentSummary, 'name' | 'description'>,
  url: string,
  pushNotifications: boolean,
): JsonObject {
  return {
    name,
    description,
    version: packageVersion(),
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: a2aVersion }],
    capabilities: { streaming: true, pushNotifications, extendedAgentCard: false },
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['text/plain', 'application/json'],
    skills: [{ id: name, name, description, tags: [name] }],
  };
}
