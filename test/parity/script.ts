import type { Json } from '../../contract/messages/messages';
import type { AgentName } from './agent-names';

/** A tool call as the model writes it. What becomes of it follows from the tool and from its arguments. */
export interface ScriptedCall {
  readonly id: string;
  readonly name: string;
  readonly input: Json;
}

/** What the models of an agent say, one call after another, by whatever name they are asked. */
export type Said =
  | { readonly says: string }
  | { readonly calls: readonly ScriptedCall[]; readonly says?: string }
  /** With `saying` a stream breaks in the middle. */
  | { readonly fails: 'in passing' | 'for good'; readonly error: string; readonly saying?: string };

/** What a person says. What that is as an answer follows from what is asked. */
export type Decision = 'yes' | 'no' | 'change' | 'spoil' | 'instead' | 'always' | 'misfit';

export interface Script {
  /** Seed and number, which are enough to make the script again. */
  readonly name: string;
  readonly agent: AgentName;
  readonly stream: boolean;
  readonly input: string;
  readonly said: readonly Said[];
  /** What the agents of a team say, by their names. One that has nothing here says what is in `said`. */
  readonly parts?: Readonly<Record<string, readonly Said[]>>;
  /** In the order of the ids of what waits. When there are no more, the answer is yes. */
  readonly decisions: readonly Decision[];
  /** Decisions that come twice, by their places. */
  readonly twice?: readonly number[];
  /** No worker is there when people answer. Where something has a deadline they come after it. */
  readonly away?: true;
  /** Whether all that waits at one time is answered in one go, or the run is let go on after each answer. */
  readonly together: boolean;
  /** Whether the run goes on as new while it waits. */
  readonly borders: boolean;
  /** The run goes on as new, too, as soon as it can when it has so many events. */
  readonly bordersAt?: readonly number[];
  /** On a server the worker is killed when the run has so many events; in memory it goes on as new there. */
  readonly killsAt?: readonly number[];
  /** How often the run is tried again when it has failed. */
  readonly retried?: number;
  /** After so many decisions nobody answers any more: the run is left, or cancelled. */
  readonly gaveUp?: { readonly after: number; readonly cancels: boolean };
}
