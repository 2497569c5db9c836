import type { Answer } from '../../contract/interrupts';
import type { Json } from '../../contract/messages/messages';
import type { AskedApart } from './interrupt-line';
import type { Timer } from './ports';

/** Code that waits for an answer. */
export interface WaitingCode {
  /** Without `whole` the deadline has passed. */
  readonly resolve: (answer: Json, whole: Answer | undefined) => void;
  readonly reject: (error: unknown) => void;
  readonly timer: Timer | undefined;
  readonly apart?: AskedApart;
}
