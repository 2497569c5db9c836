import type { AgentMiddleware } from 'holdfast/workflow';
import { cancelRequestIn } from '../../../contract/cancel';
import type { Answer, Interrupt } from '../../../contract/interrupts';
import type { MemoryRun } from '../../../testing/memory/run';
import { answerIn } from '../../../workflows/answer-in';
import { deskOf } from '../../support/desk-bed';
import { agentUnder, startRun } from '../../support/memory-bed';

function asked() {
  let now = 1000;
  const taken: Answer[] = [];
  const timer = () => ({ fired: new Promise<void>(() => undefined), cancel: () => undefined });
  const { desk } = deskOf({}, { now: () => now, timer });
  const shown: Interrupt = {
    ...{ id: 'q', address: ['a'], agent: 'a', kind: 'question', info: '?', deadline: 2000 },
    ...{
      by: ['ada'],
      steps: [
        { at: 900, type: 'escalate', by: ['eve'] },
        { at: 1500, type: 'escalate', by: ['bob'] },
      ],
    },
  };
  desk.show(shown, { answer: (answer) => void taken.push(answer), stop: () => undefined });
  const give = (at: number | undefined, by = 'ada'): string | undefined => {
    const answer: Answer = { interruptId: 'q', answer: 'yes', by, ...(at === undefined ? {} : { at }) };
    return desk.refusalOf(answer)?.code ?? void desk.answer(answer);
  };
  return { give, taken, at: (time: number) => (now = time) };
}

describe('an answer that says when it was given', () => {
  it('counts at that time, however late the run sees it', () => {
    const { give, taken, at } = asked();
    at(5000);
    expect([give(2000), give(1499, 'bob')]).toEqual(['interrupt-expired', 'answer-forbidden']);
    expect([give(1999, 'bob'), taken.map(({ at: time }) => time)]).toEqual([undefined, [1999]]);
  });

  it('counts when the run sees it, where it was given later by a clock that is ahead', () => {
    const { give, taken, at } = asked();
    at(1400);
    expect(give(9000, 'bob')).toBe('answer-forbidden');
    expect([give(9000), taken.map(({ at: time }) => time)]).toEqual([undefined, [1400]]);
  });

  it('counts when its question was shown, where it was given before by a clock that is behind', () => {
    const { give, taken, at } = asked();
    at(5000);
    expect([give(1, 'eve'), taken.map(({ at: time }) => time)]).toEqual([undefined, [1000]]);
  });

  it('counts when the run sees it, where it does not say so', () => {
    const { give, taken, at } = asked();
    at(2000);
    expect(give(undefined)).toBe('interrupt-expired');
    at(1700);
    expect([give(undefined, 'bob'), taken.map(({ at: time }) => time)]).toEqual([undefined, [1700]]);
  });

  it.each(['soon', 1.5, -1, null, 1e300])('does not say so with %p', (at) => {
    expect(answerIn({ interruptId: 'q', answer: 'yes', at })).toEqual({ interruptId: 'q', answer: 'yes' });
    expect(cancelRequestIn({ modes: ['now'], at })).toEqual({ modes: ['now'], recursive: true });
  });
});

it('the time of a cancel counts from when it was given, and not from later than when the run sees it', async () => {
  const sleeping: AgentMiddleware = { name: 'sleeping', beforeAgent: (_, ctx) => ctx.sleep('1d') };
  for (const [given, left] of [
    [-20_000, 10],
    [20_000, 30],
  ] as const) {
    const run = await startRun(agentUnder(sleeping), []);
    await run.outcome();
    const memory = (run as unknown as { readonly run: MemoryRun }).run;
    await memory.cancel({ modes: ['after-tools'], recursive: true, withinMs: 30_000, at: memory.clock.now + given });
    await run.advance(`${left - 1}s`);
    expect((await run.view()).status).toBe('running');
    await run.advance('1s');
    expect((await run.view()).status).toBe('cancelled');
  }
});
