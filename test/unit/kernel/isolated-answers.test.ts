import type { Answer, Interrupt } from '../../../contract/interrupts';
import type { Failure, Json } from '../../../contract/messages/messages';
import type { RunState } from '../../../kernel/run/state';
import { deskOf } from '../../support/desk-bed';

function asked(parent?: RunState['parent']) {
  const handedOn: Answer[] = [];
  const hidden: string[] = [];
  const told: (string | undefined)[] = [];
  const bed = deskOf(parent === undefined ? {} : { parent }, { hideInterrupt: (id) => void hidden.push(id) });
  const shown: Interrupt = { id: 'team.asks', address: ['team', 'asks'], agent: 'asks', kind: 'question', info: 'Well?' };
  bed.desk.show(shown, { answer: (answer) => void handedOn.push(answer), stop: () => undefined });
  const hear = (refused?: Failure): void => void told.push(refused?.code);
  const give = (answer: Json, delivery = 'one'): void => void bed.desk.answer({ interruptId: 'team.asks', answer, delivery }, hear);
  return { ...bed, handedOn, hidden, told, give };
}

describe('an answer to an isolated agent', () => {
  it('leaves the list at once, and counts when the agent says so', () => {
    const { desk, ends, handedOn, hidden, told, give } = asked();
    give('yes');
    expect([handedOn.map(({ answer }) => answer), hidden, told, ends()]).toEqual([['yes'], ['team.asks'], [], []]);
    desk.withdraw('team.asks', { answer: 'yes', reason: 'answer' });
    expect([hidden, told, ends()]).toEqual([['team.asks'], [undefined], ['answer']]);
  });

  it.each([
    ['withdrawn, such as one that lost a race', 'cancel', null, 'interrupt-withdrawn'],
    ['over at its deadline', 'deadline', 'nobody', 'interrupt-expired'],
    ['answered by somebody else', 'answer', 'no', 'interrupt-answered'],
  ] as const)('is refused when the question was %s there, and the log says how it ended', (_, reason, answer, code) => {
    const { desk, ends, told, give } = asked();
    give('yes');
    desk.withdraw('team.asks', { answer, reason });
    expect([told, ends()]).toEqual([[code], [reason]]);
  });

  it('that came as a signal leaves an event where it is refused', () => {
    const { desk, ends } = asked();
    desk.answer({ interruptId: 'team.asks', answer: 'yes' });
    desk.withdraw('team.asks', { answer: null, reason: 'cancel' });
    expect(ends()).toEqual(['cancel', 'interrupt-withdrawn']);
  });

  it('is one: another one is refused before the agent has said anything, and the same one is not', () => {
    const { desk, handedOn, told, give } = asked();
    give('yes');
    expect(desk.refusalOf({ interruptId: 'team.asks', answer: 'no', delivery: 'two' })).toMatchObject({ code: 'interrupt-answered' });
    give('yes');
    expect([handedOn.length, told]).toEqual([1, [undefined]]);
  });

  it('is refused when the run is cancelled before the agent has said anything', () => {
    const { desk, told, give } = asked();
    give('yes');
    desk.cancelAll(new Error('cancelled'));
    expect(told).toEqual(['run-ended']);
  });

  it('that was handed on, and comes to nothing, is told of in the log of the run that somebody gave it to alone', () => {
    for (const [parent, told] of [
      [undefined, ['interrupt-unknown']],
      [{ id: 'run', from: 'team', path: ['team'] }, []],
    ] as const) {
      const { desk, ends } = asked(parent);
      desk.answer({ interruptId: 'gone', answer: 'yes', at: 900, handedOn: true });
      expect(ends()).toEqual(told);
    }
  });
});
