import type { JsonObject } from '../../contract/messages/messages';
import { a2aVersion } from './wire';

interface Described {
  readonly name: string;
  readonly description: string;
}

/** What other agents are told of an agent. One card is of one agent. */
export function cardOf({ name, description }: Described, url: string, pushNotifications: boolean): JsonObject {
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

function packageVersion(): string {
  // By its own name the package is found from sources and from dist alike.
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  return (require('holdfast/package.json') as { version: string }).version;
}
