import type { Frame } from '../effects/frames';
import type { Ports, Timer } from './ports';

/** A sleep as an effect: it is over with its frame, if that ends before. `letGo` is told that nobody wakes. */
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

/** The moment that a sleep of this length ends at. Code that is entered again sleeps on for as long as is left. */
export function untilOf(frame: Frame, n: number, ports: Ports, milliseconds: () => number): number {
  const name = `until:${n}`;
  const before = frame.noteOf(name);
  if (typeof before === 'number') return before;
  const until = ports.now() + milliseconds();
  frame.note(name, until);
  return until;
}
