import { HoldfastError } from '../../contract/errors';
import type { AskingPolicy, PolicyDecision } from '../../contract/decisions';
import type { People } from '../../contract/people';
import type { PolicyPlan } from '../../contract/policies';
import type { Json, ToolCall } from '../../contract/messages/messages';
import type { AskAgain, HeldCall, Pass } from '../effects/tool-decision';
import type { HookContext, InterruptOptions } from './middleware';

export type { AskAgain, HeldCall, Pass };

/** What built-ins do with a context and nobody else may: what a hook stores under whatever key never stands for a person's word. */
export interface Inside {
  /** What a person approved for the rest of the run. */
  readonly waivers: Waivers;
  /** What the run was started with. Hooks cannot change it. */
  readonly startedWith: StartedWith;
  /** Whom a second pair of eyes has to be another than. */
  readonly eyes: Eyes;
  /** Asks as `ctx.approve` does, and says who decided. */
  decide(call: ToolCall, options: NonNullable<Parameters<HookContext['approve']>[1]>, policy?: AskingPolicy): Promise<DecisionOfSomebody>;
  /** This layer as one of several that ask people about a call. */
  readonly together: Together;
  /** Asks the worker what a policy of the configuration asks about a call. */
  planOf(policy: string, call: ToolCall): Promise<PolicyPlan>;
  /** Asks as `ctx.interrupt` does, and says who answered. */
  ask(info: Json, options: InterruptOptions): Promise<AnswerOfSomebody>;
  /** Takes session values back that are nobody's any more. */
  dropSession(keys: readonly string[]): void;
}

export interface Together {
  /** This layer asks people about the call that it wraps. `ask` is for other arguments than those that it lets pass. */
  holds(ask: AskAgain): void;
  /** Whether layers around this one are to be asked about a call. Without one: about an edit. */
  asksAround(call?: ToolCall): boolean;
  /** Asks them, and this layer again, until all agree to the same. */
  askAround(held: HeldCall, ask: AskAgain): Promise<Pass>;
  /** This layer tells the model what people made of the call: those around it need not. */
  tellsOfEdit(): void;
  readonly isToldInside: boolean;
}

export interface Eyes {
  /** Those who wrote to the turn at work, and are named. */
  readonly writers: readonly string[];
  readonly people: People;
}

export interface StartedWith {
  readonly values: Readonly<Record<string, Json | undefined>>;
  readonly tags: readonly string[];
  /** Undefined: nobody said so. */
  readonly startedBy?: string;
  /** A message of the turn at work came from nobody who is named. */
  readonly hasUnnamedWriter?: true;
}

export interface AnswerOfSomebody<Answer = Json> {
  readonly answer: Answer;
  readonly by?: string;
  /** Which roles they were said to have. */
  readonly roles?: readonly string[];
  /** Nobody gave it: the deadline has passed. */
  readonly expired?: true;
}

export type DecisionOfSomebody = AnswerOfSomebody<PolicyDecision>;

export interface Waivers {
  has(name: string): boolean;
  all(): readonly string[];
  add(name: string): void;
}

// Not registered: a context of a second copy of the package is another run's, as far as this one can know.
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
