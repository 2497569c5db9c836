import type { Answer, Interrupt } from '../contract/interrupts';

export type AskForCommand = <T>(place: string, make: () => Promise<T> | undefined) => Promise<T>;

export interface PortsOwner {
  wantsContinueAsNew(): boolean;
  asked(): readonly Interrupt[];
  move?(): void;
  /** Called for answers to isolated agents that this run did not get. */
  found(answer: Answer): void;
}
