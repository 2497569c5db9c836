import type { Json } from '../../contract/messages/messages';
import type { AnyMessage, InputFor } from '../../contract/messages/message-shapes';

// Describes agents without an import of `holdfast/workflow`.
interface AgentShape<Input, Output> {
  readonly name: string;
  readonly description: string;
  readonly types?: { readonly input: Input; readonly output: Output };
}
type AgentsOf<Module> = Extract<Module[keyof Module], AgentShape<unknown, unknown>>;
type NamedAgent<Module, Name> = Extract<AgentsOf<Module>, { readonly name: Name }>;
type TypesOf<Agent> = Agent extends { readonly types?: infer Types } ? NonNullable<Types> : never;

/** The agent names of a module. Any name for an unknown module. */
export type AgentName<Module> = [Module] extends [never] ? string : string & AgentsOf<Module>['name'];

export type InputOfAgent<Module, Name> = [Module] extends [never]
  ? Json | readonly AnyMessage[]
  : TypesOf<NamedAgent<Module, Name>> extends { readonly input: infer Input }
    ? InputFor<Input>
    : never;

export type OutputOfAgent<Module, Name> = [Module] extends [never]
  ? unknown
  : TypesOf<NamedAgent<Module, Name>> extends { readonly output: infer Output }
    ? Output
    : never;
