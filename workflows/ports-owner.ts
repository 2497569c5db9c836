import type { Answer, Interrupt } from '../contract/interrupts';

/** Asks for a command of a place in the run. `make` returns undefined without room in this task. */
export type AskForCommand = <T>(place: string, make: () => Promise<T> | undefined) => Promise<T>;

export interface PortsOwner {
  wantsContinueAsNew(): boolean;
  /** The open interrupts. */
  asked(): readonly Interrupt[];
  move?(): void;
  /** Told of answers to isolated agents that this run did not get. */
  found(answer: Answer): void;
}
