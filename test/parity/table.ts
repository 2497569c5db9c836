import { codeOf, messageOf } from '../../contract/errors';
import type { RunEvent, RunView } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import type { Failure, Json } from '../../contract/messages/messages';
import type { Part } from './play';

export interface Table {
  /** Waits until the run comes no further by itself. On a server: until the run stands as in memory. */
  standing(like?: Standing): Promise<Standing>;
  view(): Promise<RunView>;
  answer(interruptId: string, answer: Json, by: string | undefined): Promise<void>;
  cancel(): Promise<void>;
  retry(): Promise<void>;
  /** Stops the worker. With `late`, waits until after all open deadlines. Returns whether the worker was gone before the first. */
  leave(late: boolean): Promise<boolean>;
  comeBack(): Promise<void>;
  /** Asks for a continue-as-new and returns whether the run did so. With `expected`, waits. */
  border(expected?: boolean): Promise<boolean>;
  parts(): Promise<readonly Part[]>;
  close(): Promise<void>;
}

export interface Standing {
  readonly log: readonly RunEvent[];
  readonly open: readonly Interrupt[];
  /** Milliseconds of silence before the wait was given up. */
  readonly silentMs?: number;
}

export type Act =
  | {
      readonly do: 'answer';
      readonly id: string;
      readonly answer: Json;
      readonly by?: string;

      readonly refused?: Failure;
    }
  | { readonly do: 'cancel' }
  | { readonly do: 'retry'; readonly refused?: Failure }
  | { readonly do: 'leave'; readonly late: boolean; readonly tooLate?: true }
  | { readonly do: 'come back' }
  | { readonly do: 'border'; readonly crossed?: boolean };

export interface Move {
  readonly standing: Standing;
  readonly acts: readonly Act[];
}

export const lateMs = 1000;

export function firstLimit(open: readonly Interrupt[]): number {
  return Math.min(...open.map(({ deadline = Infinity }) => deadline));
}

export function lateTime(open: readonly Interrupt[]): number {
  return Math.max(...open.map(({ deadline = 0 }) => deadline)) + lateMs;
}

export async function received(table: Table, act: Act): Promise<Act> {
  if (act.do === 'cancel') await table.cancel();
  else if (act.do === 'retry')
    return table.retry().then(
      () => ({ do: 'retry' }) as const,
      (error: unknown) => ({ do: 'retry', refused: failureIn(error) }) as const,
    );
  else if (act.do === 'leave') return (await table.leave(act.late)) ? act : { ...act, tooLate: true };
  else if (act.do === 'come back') await table.comeBack();
  else if (act.do === 'border') return { do: 'border', crossed: await table.border(act.crossed) };
  else {
    const { refused: _, ...given } = act;
    const { id, answer, by } = given;
    try {
      await table.answer(id, answer, by);
      return given;
    } catch (error) {
      return { ...given, refused: failureIn(error) };
    }
  }
  return act;
}

function failureIn(error: unknown): Failure {
  return { code: codeOf(error) ?? 'no code', message: messageOf(error) };
}

export function hasFailed(log: readonly RunEvent[]): boolean {
  const last = log.at(-1);
  return last?.type === 'run-end' && last.status === 'failed';
}

export function openAfter(log: readonly RunEvent[]): readonly Interrupt[] {
  const open = new Map<string, Interrupt>();
  for (const event of log) {
    if (event.type === 'interrupt-start') open.set(event.interrupt.id, event.interrupt);
    if (event.type === 'interrupt-end') open.delete(event.interruptId);
  }
  return log.at(-1)?.type === 'run-end' ? [] : [...open.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
}
