import type { EventBody } from '../../contract/events';
import { OpenInterrupts } from '../../kernel/run/interrupts/interrupts';
import type { Ports } from '../../kernel/run/ports';
import type { RunState } from '../../kernel/run/state';

/** The open interrupts of a run, which lives at the second 1 and shows them to nobody. */
export function deskOf(state: Partial<RunState> = {}, own: Partial<Ports> = {}, isTurnStopped?: () => boolean) {
  const events: EventBody[] = [];
  const ports: Partial<Ports> = {
    now: () => 1000,
    emit: (event) => void events.push(event),
    roomToShow: () => undefined,
    showInterrupt: () => undefined,
    hideInterrupt: () => undefined,
    atRest: (run) => run(),
    ...own,
  };
  const all: Partial<RunState> = { interrupts: [], answered: [], sequence: 0, ...state };
  const ends = (): readonly string[] =>
    events.flatMap((event) => (event.type === 'interrupt-end' ? [event.reason] : event.type === 'resume-ignored' ? [event.code] : []));
  return { desk: new OpenInterrupts(all as RunState, ports as Ports, isTurnStopped), events, ends };
}
