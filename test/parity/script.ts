import type { Json } from '../../contract/messages/messages';
import type { AgentName } from './agent-names';

export interface ScriptedCall {
  readonly id: string;
  readonly name: string;
  readonly input: Json;
}

export type Said =
  | { readonly says: string }
  | { readonly calls: readonly ScriptedCall[]; readonly says?: string }
  /** With `saying`, the stream breaks in the middle. */
  | { readonly fails: 'in passing' | 'for good'; readonly error: string; readonly saying?: string };

export type Decision = 'yes' | 'no' | 'change' | 'spoil' | 'instead' | 'always' | 'misfit';

export interface Script {
  readonly name: string;
  readonly agent: AgentName;
  readonly stream: boolean;
  readonly input: string;
  readonly said: readonly Said[];
  readonly parts?: Readonly<Record<string, readonly Said[]>>;
  /** In the order of interrupt ids. Default: yes. */
  readonly decisions: readonly Decision[];
  readonly twice?: readonly number[];
  /** Answers come without a worker, and after any deadline. */
  readonly away?: true;
  /** Whether open questions are answered at once, or the run continues after every answer. */
  readonly together: boolean;
  readonly borders: boolean;
  /** Event counts at which the run continues as new. */
  readonly bordersAt?: readonly number[];
  /** Event counts at which the worker is killed; in memory, the run continues as new instead. */
  readonly killsAt?: readonly number[];
  readonly retried?: number;
  /** After `after` decisions, the run is left or cancelled. */
  readonly gaveUp?: { readonly after: number; readonly cancels: boolean };
}
