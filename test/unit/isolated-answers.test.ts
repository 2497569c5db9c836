import type { EventBody } from '../../contract/events';
import type { Answer, Interrupt } from '../../contract/interrupts';
import type { Failure, Json } from '../../contract/messages/messages';
import { OpenInterrupts } from '../../kernel/run/interrupts';
import type { Ports } from '../../kernel/run/ports';
import type { RunState } from '../../kernel/run/state';

function deskOf(parent?: RunState['parent']): {
  readonly desk: OpenInterrupts;
  readonly events: EventBody[];
  readonly handedOn: Answer[];
  readonly hidden: string[];
  readonly told: (string | undefined)[];
  readonly give: (answer: Json, delivery?: string) => void;
} {
  const events: EventBody[] = [];
  const handedOn: Answer[] = [];
  const hidden: string[] = [];
  const told: (string | undefined)[] = [];
  const ports: Partial<Ports> = {
    now: () => 1000,
    emit: (event) => void events.push(event),
    roomToShow: () => undefined,
    showInterrupt: () => undefined,
    hideInterrupt: (id) => void hidden.push(id),
    atRest: (run) => run(),
  };
  const state: Partial<RunState> = { interrupts: [], answered: [], sequence: 0, ...(parent === undefined ? {} : { parent }) };
  const desk = new OpenInterrupts(state as RunState, ports as Ports);
  const shown: Interrupt = { id: 'team.asks', address: ['team', 'asks'], agent: 'asks', kind: 'question', info: 'Well?' };
  desk.show(shown, { answer: (answer) => void handedOn.push(answer), stop: () => undefined });
  const hear = (refused?: Failure): void => void told.push(refused?.code);
  const give = (answer: Json, delivery = 'one'): void => void desk.answer({ interruptId: 'team.asks', answer, delivery }, hear);
  return { desk, events, handedOn, hidden, told, give };
}

const ends = (events: readonly EventBody[]): unknown =>
  events.flatMap((event) => (event.type === 'interrupt-end' ? [event.reason] : event.type === 'resume-ignored' ? [event.code] : []));

describe('an answer to an isolated agent', () => {
  it('leaves the list at once, and counts when the agent says so', () => {
    const { desk, events, handedOn, hidden, told, give } = deskOf();
    give('yes');
    expect([handedOn.map(({ answer }) => answer), hidden, told, ends(events)]).toEqual([['yes'], ['team.asks'], [], []]);
    desk.withdraw('team.asks', { answer: 'yes', reason: 'answer' });
    expect([hidden, told, ends(events)]).toEqual([['team.asks'], [undefined], ['answer']]);
  });

  it.each([
    ['withdrawn, such as one that lost a race', 'cancel', null, 'interrupt-withdrawn'],
    ['over at its deadline', 'deadline', 'nobody', 'interrupt-expired'],
    ['answered by somebody else', 'answer', 'no', 'interrupt-answered'],
  ] as const)('is refused when the question was %s there, and the log says how it ended', (_, reason, answer, code) => {
    const { desk, events, told, give } = deskOf();
    give('yes');
    desk.withdraw('team.asks', { answer, reason });
    expect([told, ends(events)]).toEqual([[code], [reason]]);
  });

  it('that came as a signal leaves an event where it is refused', () => {
    const { desk, events } = deskOf();
    desk.answer({ interruptId: 'team.asks', answer: 'yes' });
    desk.withdraw('team.asks', { answer: null, reason: 'cancel' });
    expect(ends(events)).toEqual(['cancel', 'interrupt-withdrawn']);
  });

  it('is one: another one is refused before the agent has said anything, and the same one is not', () => {
    const { desk, handedOn, told, give } = deskOf();
    give('yes');
    expect(desk.refusalOf({ interruptId: 'team.asks', answer: 'no', delivery: 'two' })).toMatchObject({ code: 'interrupt-answered' });
    give('yes');
    expect([handedOn.length, told]).toEqual([1, [undefined]]);
  });

  it('is refused when the run is cancelled before the agent has said anything', () => {
    const { desk, told, give } = deskOf();
    give('yes');
    desk.cancelAll(new Error('cancelled'));
    expect(told).toEqual(['run-ended']);
  });

  it('that was handed on, and comes to nothing, is told of in the log of the run that somebody gave it to alone', () => {
    for (const [parent, told] of [
      [undefined, ['interrupt-unknown']],
      [{ id: 'run', from: 'team', path: ['team'] }, []],
    ] as const) {
      const { desk, events } = deskOf(parent);
      desk.answer({ interruptId: 'gone', answer: 'yes', at: 900, handedOn: true });
      expect(ends(events)).toEqual(told);
    }
  });
});
