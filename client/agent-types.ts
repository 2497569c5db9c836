import type { Json } from '../contract/messages/messages';
import type { AnyMessage, InputFor } from '../contract/messages/message-shapes';

// The shape of a module's agents, without importing the workflow door.
interface AgentShape<Input, Output> {
  readonly name: string;
  readonly description: string;
  readonly types?: { readonly input: Input; readonly output: Output };
}
type AgentsOf<Module> = Extract<Module[keyof Module], AgentShape<unknown, unknown>>;
type NamedAgent<Module, Name> = Extract<AgentsOf<Module>, { readonly name: Name }>;
type TypesOf<Agent> = Agent extends { readonly types?: infer Types } ? NonNullable<Types> : never;

/** The names of the agents of a module. Any name where the module is not known. */
export type AgentName<Module> = [Module] extends [never] ? string : string & AgentsOf<Module>['name'];

/** What an agent of a module takes. */
export type InputOfAgent<Module, Name> = [Module] extends [never]
  ? Json | readonly AnyMessage[]
  : TypesOf<NamedAgent<Module, Name>> extends { readonly input: infer Input }
    ? InputFor<Input>
    : never;

/** What an agent of a module gives. */
export type OutputOfAgent<Module, Name> = [Module] extends [never]
  ? unknown
  : TypesOf<NamedAgent<Module, Name>> extends { readonly output: infer Output }
    ? Output
    : never;
