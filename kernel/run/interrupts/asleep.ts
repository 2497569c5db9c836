import type { Snapshot } from '../../../contract/record/wire';
import type { Frame } from '../../effects/frames';
import type { Ports, Timer } from '../ports';
import type { RunState } from '../state';

/** `letGo` is called if the frame ends the sleep, so its code never wakes. */
export function asleep(frame: Frame, kind: string, sleep: (n: number) => Timer, letGo?: () => void): Promise<void> {
  return frame.effect(kind, (n) => {
    const timer = sleep(n);
    frame.opened(n, (error) => {
      timer.cancel();
      if (error === undefined) letGo?.();
    });
    return timer.fired;
  });
}

export function untilNote(n: number): string {
  return `until:${n}`;
}

export function untilOf(frame: Frame, n: number, ports: Ports, milliseconds: () => number): number {
  const name = untilNote(n);
  const before = frame.noteOf(name);
  if (typeof before === 'number') return before;
  const until = ports.now() + milliseconds();
  frame.note(name, until);
  return until;
}

/** Limits that were open at the continue-as-new. */
export function openLimits(snapshot: Pick<Snapshot, 'state'> | undefined): readonly number[] {
  if (snapshot === undefined) return [];
  const { journal, notes = {}, interrupts } = snapshot.state as RunState;
  const sleeps = Object.entries(journal).flatMap(([address, effects]) =>
    effects.filter((effect) => 'open' in effect).map(({ n }) => notes[address]?.[untilNote(n)]),
  );
  // A limited question ends with the sleep of its code.
  const deadlines = interrupts.filter(({ isLimited }) => isLimited !== true).map(({ shown }) => shown.deadline);
  const steps = interrupts.flatMap(({ shown, told = 0 }) => (shown.steps ?? []).slice(told).map(({ at }) => at));
  return [...sleeps, ...deadlines, ...steps].filter((end) => typeof end === 'number');
}
