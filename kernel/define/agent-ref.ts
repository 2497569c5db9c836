import type { JsonObject, Message } from '../../contract/messages/messages';

/** The input of an agent: a text, messages, or a job. */
export type AgentInput = string | readonly Message[] | JsonObject;

export interface Agent<Name extends string = string, Input = string, Output = string> {
  readonly name: Name;
  readonly description: string;
  /** Carries types only; never set. */
  readonly types?: { readonly input: Input; readonly output: Output };
}

export const agentMark = Symbol.for('holdfast.agent');

/**
 * Whether a value is an agent, for example among the exports of a module.
 * @example
 * import * as agentsModule from './agents';
 *
 * const agents = Object.values(agentsModule).filter((value) => isAgent(value));
 * console.log(agents.map(({ name }) => name));
 */
export function isAgent(value: unknown): value is Agent {
  return typeof value === 'object' && value !== null && agentMark in value;
}
