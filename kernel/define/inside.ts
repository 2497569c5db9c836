import { HoldfastError } from '../../contract/errors';
import type { Author } from '../../contract/access';
import type { AskingPolicy, PolicyDecision } from '../../contract/decisions';
import type { People } from '../../contract/people';
import type { PolicyPlan } from '../../contract/policies';
import type { ToolSpec } from '../../contract/manifest';
import type { Json, ToolCall } from '../../contract/messages/messages';
import type { AskAgain, HeldCall, Pass } from '../effects/tool-decision';
import type { HookContext, InterruptOptions } from './middleware';

export type { AskAgain, HeldCall, Pass };

/** For built-in middleware only: a value that a hook stores cannot pass for a person's decision. */
export interface Inside {
  readonly waivers: Waivers;
  readonly startedWith: StartedWith;
  /** People who may not give the second approval. */
  readonly eyes: Eyes;
  decide(call: ToolCall, options: NonNullable<Parameters<HookContext['approve']>[1]>, policy?: AskingPolicy): Promise<DecisionOfSomebody>;
  readonly together: Together;
  planOf(policy: string, call: ToolCall): Promise<PolicyPlan>;
  ask(info: Json, options: InterruptOptions): Promise<AnswerOfSomebody>;
  dropSession(keys: readonly string[]): void;
  specsOf(tools: readonly string[]): readonly ToolSpec[];
}

export interface Together {
  holds(ask: AskAgain): void;
  /** Whether outer layers must be asked about a call. Without a call: about an edit. */
  asksAround(call?: ToolCall): boolean;
  askAround(held: HeldCall, ask: AskAgain): Promise<Pass>;
  /** Keeps outer layers from telling the model of the edit again. */
  tellsOfEdit(): void;
  readonly isToldInside: boolean;
}

export interface Eyes {
  /** Named people who wrote to the turn at work. */
  readonly writers: readonly string[];
  readonly people: People;
}

export interface StartedWith {
  readonly values: Readonly<Record<string, Json | undefined>>;
  readonly tags: readonly string[];
  readonly startedBy?: string;
  readonly hasUnnamedWriter?: true;
}

export interface AnswerOfSomebody<Given = Json> extends Author {
  readonly answer: Given;
  readonly expired?: true;
}

export type DecisionOfSomebody = AnswerOfSomebody<PolicyDecision>;

export interface Waivers {
  has(name: string): boolean;
  all(): readonly string[];
  add(name: string): void;
}

// Not a registered symbol: the context of a second copy of the package belongs to another run.
export const inside: unique symbol = Symbol('inside');

export function insideOf(ctx: HookContext): Inside {
  const found = (ctx as { readonly [inside]?: Inside })[inside];
  if (found === undefined)
    throw new HoldfastError(
      'outside-run',
      'A built-in middleware needs the context that the run gave, and got another one: a copy of it, or one of a second copy of Holdfast in the bundle.',
    );
  return found;
}
