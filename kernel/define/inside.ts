import { HoldfastError } from '../../contract/errors';
import type { AskingPolicy, PolicyDecision } from '../../contract/decisions';
import type { PolicyPlan } from '../../contract/policies';
import type { Json, ToolCall } from '../../contract/messages/messages';
import type { HookContext, InterruptOptions } from './middleware';

/** What built-ins do with a context and nobody else may: what a hook stores under whatever key never stands for a person's word. */
export interface Inside {
  /** What a person approved for the rest of the run. */
  readonly waivers: Waivers;
  /** The model hears that a person changed a call. Runs that began before that go on without. */
  readonly tellsEdits: boolean;
  /** What the run was started with. Hooks cannot change it. */
  readonly startedWith: StartedWith;
  /** Asks as `ctx.approve` does, and says who decided. */
  decide(call: ToolCall, options: NonNullable<Parameters<HookContext['approve']>[1]>, policy?: AskingPolicy): Promise<DecisionOfSomebody>;
  /** Asks the worker what a policy of the configuration asks about a call. */
  planOf(policy: string, call: ToolCall): Promise<PolicyPlan>;
  /** Asks as `ctx.interrupt` does, and says who answered. */
  ask(info: Json, options: InterruptOptions): Promise<AnswerOfSomebody>;
  /** Takes session values back that are nobody's any more. */
  dropSession(keys: readonly string[]): void;
}

export interface StartedWith {
  readonly values: Readonly<Record<string, Json | undefined>>;
  readonly tags: readonly string[];
  /** Undefined: nobody said so. */
  readonly startedBy?: string;
}

export interface AnswerOfSomebody<Answer = Json> {
  readonly answer: Answer;
  readonly by?: string;
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
