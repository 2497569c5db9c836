import type { Asker } from './gate';

/** The turns of a limit that several workers share. Nothing here throws: without an answer the worker keeps to the limit by itself. */
export interface SharedTurns {
  /** 0: the call has its turn. Otherwise milliseconds until it is worth asking again. */
  ask(asker: Asker): Promise<number>;
  end(asker: Asker, tokens: number): void;
  /** The call was not made after all. */
  giveBack(asker: Asker): void;
  /** The call waits here no more. */
  forget(id: string): void;
}
