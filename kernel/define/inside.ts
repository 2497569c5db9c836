import { HoldfastError } from '../../contract/errors';
import type { HookContext } from './middleware';

/** What built-ins do with a context and nobody else may: what a hook stores under whatever key never stands for a person's word. */
export interface Inside {
  /** What a person approved for the rest of the run. */
  readonly waivers: Waivers;
  /** The model hears that a person changed a call. Runs that began before that go on without. */
  readonly tellsEdits: boolean;
  /** Takes session values back that are nobody's any more. */
  dropSession(keys: readonly string[]): void;
}

export interface Waivers {
  has(name: string): boolean;
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
