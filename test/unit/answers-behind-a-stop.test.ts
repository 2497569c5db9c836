import type { EventBody } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import { OpenInterrupts } from '../../kernel/run/interrupts';
import type { Ports } from '../../kernel/run/ports';
import type { RunState } from '../../kernel/run/state';
import { AskingEnd } from '../../kernel/run/turn-stop';

const shown: Interrupt = { id: 'asks', address: ['agent', 'asks'], agent: 'agent', kind: 'question', info: 'Well?' };
const answer = { interruptId: 'asks', answer: 'yes' };

function deskBehindContinueAsNew() {
  const events: EventBody[] = [];
  const turn = { isStopped: false };
  const ports: Partial<Ports> = {
    now: () => 1000,
    emit: (event) => void events.push(event),
    showInterrupt: () => undefined,
    hideInterrupt: () => undefined,
    atRest: (run) => run(),
  };
  const state: Partial<RunState> = { interrupts: [{ shown }], answered: [], sequence: 0 };
  const desk = new OpenInterrupts(state as RunState, ports as Ports, new AskingEnd(() => turn.isStopped));
  const ends = (): readonly string[] =>
    events.flatMap((event) =>
      event.type === 'interrupt-end' ? [event.reason] : event.type === 'resume-ignored' ? [`ignored ${event.code}`] : [],
    );
  return { desk, ends, turn };
}

describe('an answer that comes before the code of a run asks again', () => {
  it('comes too late for a turn that was stopped, and the question ends as withdrawn', async () => {
    const { desk, ends, turn } = deskBehindContinueAsNew();
    turn.isStopped = true;
    expect(desk.refusalOf(answer)).toMatchObject({ code: 'interrupt-withdrawn' });
    desk.answer(answer);
    await expect(desk.open({ shown })).rejects.toMatchObject({ code: 'cancelled' });
    expect(ends()).toEqual(['ignored interrupt-withdrawn', 'cancel']);
  });

  it('counts where the turn is stopped after it', async () => {
    const { desk, ends, turn } = deskBehindContinueAsNew();
    desk.answer(answer);
    turn.isStopped = true;
    expect(await desk.open({ shown })).toBe('yes');
    expect(ends()).toEqual(['answer']);
  });
});
