import type { Interrupt } from '../../../contract/interrupts';
import { deskOf } from '../../support/desk-bed';

const shown: Interrupt = { id: 'asks', address: ['agent', 'asks'], agent: 'agent', kind: 'question', info: 'Well?' };
const answer = { interruptId: 'asks', answer: 'yes' };

function deskBehindContinueAsNew() {
  const turn = { isStopped: false };
  return { turn, ...deskOf({ interrupts: [{ shown }] }, {}, () => turn.isStopped) };
}

describe('an answer that comes before the code of a run asks again', () => {
  it('comes too late for a turn that was stopped, and the question ends as withdrawn', async () => {
    const { desk, ends, turn } = deskBehindContinueAsNew();
    turn.isStopped = true;
    expect(desk.refusalOf(answer)).toMatchObject({ code: 'interrupt-withdrawn' });
    desk.answer(answer);
    await expect(desk.open({ shown })).rejects.toMatchObject({ code: 'cancelled' });
    expect(ends()).toEqual(['interrupt-withdrawn', 'cancel']);
  });

  it('counts where the turn is stopped after it', async () => {
    const { desk, ends, turn } = deskBehindContinueAsNew();
    desk.answer(answer);
    turn.isStopped = true;
    expect(await desk.open({ shown })).toBe('yes');
    expect(ends()).toEqual(['answer']);
  });
});
