import type { RunEvent } from '../../../contract/events';
import type { Compared } from '../../parity/play';
import { cameTooLate } from '../../parity/too-late';

type Log = readonly object[];

const asked = { type: 'interrupt-start', interrupt: { id: 'one', deadline: 1000 } };
const ended = (reason: string, time: number): object => ({ type: 'interrupt-end', interruptId: 'one', reason, time });

function compared(memory: Log, server: Log, served = 0, agent = 'hurried'): Compared {
  const log = (events: Log): readonly RunEvent[] => events as unknown as readonly RunEvent[];
  const standing = { log: log([asked]), open: [{ id: 'one' }] };
  const moves = [{ standing, acts: [] }];
  return {
    memory: { script: { agent }, moves, end: { log: log([asked, ...memory]), open: [] } },
    server: { moves: moves.slice(0, served), end: { log: log([asked, ...server]), open: [] } },
  } as unknown as Compared;
}

describe('a script with a deadline', () => {
  it('is played again where the deadline had passed on the server before somebody came', () => {
    expect(cameTooLate(compared([ended('deadline', 1000)], [ended('deadline', 1001)]))).toBe(true);
    expect(cameTooLate(compared([ended('answer', 900)], [ended('deadline', 1001)], 1))).toBe(true);
  });

  it('is played again where its worker was still there at the deadline', () => {
    const { memory, server } = compared([ended('deadline', 1000)], [ended('deadline', 1001)], 1);
    const moves = server.moves.map((move) => ({ ...move, acts: [{ do: 'leave', late: true, tooLate: true } as const] }));
    expect(cameTooLate({ memory, server: { ...server, moves } })).toBe(true);
  });

  it('is not played again where a deadline passed too early, where both were late, and where it has another agent', () => {
    expect(cameTooLate(compared([ended('answer', 900)], [ended('deadline', 999)], 1))).toBe(false);
    expect(cameTooLate(compared([ended('deadline', 1000)], [ended('deadline', 1001)], 1))).toBe(false);
    expect(cameTooLate(compared([ended('answer', 900)], [ended('answer', 900)], 0))).toBe(false);
    expect(cameTooLate(compared([ended('answer', 900)], [ended('deadline', 1001)], 1, 'racing'))).toBe(false);
  });
});
