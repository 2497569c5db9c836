import { checkAnswer } from '../../../client/runs/answers';
import type { Interrupt } from '../../../contract/interrupts';
import type { AskedInTime } from '../../../contract/who-may-answer';
import { askedAt, askedText, mayAnswer, whyNot } from '../../../contract/who-may-answer';
import { errorOf } from '../../support/failures';

const interrupt: AskedInTime = {
  ...{ id: 'q', by: ['ada'], roles: ['support'], notBy: ['eve'] },
  steps: [
    { at: 10, type: 'remind' },
    { at: 20, type: 'escalate', by: ['bob'], roles: ['manager'] },
    { at: 30, type: 'escalate', roles: ['board'] },
  ],
};

describe('who may answer', () => {
  it.each<[string, string | undefined, readonly string[], number, boolean]>([
    ['a person who is named', 'ada', [], 0, true],
    ['a person with a role', 'sue', ['support'], 0, true],
    ['somebody else', 'bob', [], 0, false],
    ['somebody of a later time, before it', 'bob', [], 19, false],
    ['somebody of a later time, from it on', 'bob', [], 20, true],
    ['a role of a later time, from it on', 'mona', ['manager'], 20, true],
    ['a role of a time that is still later', 'max', ['board'], 29, false],
    ['a person who is named, also later', 'ada', [], 40, true],
    ['a person who is excluded, whatever their role is', 'eve', ['support', 'manager'], 40, false],
    ['a role without a name', undefined, ['support'], 0, false],
  ])('%s', (_, by, roles, at, may) => {
    expect(mayAnswer(interrupt, { ...(by === undefined ? {} : { by }), roles }, at)).toBe(may);
  });

  it('anybody, where nobody is named, and after an escalation, too', () => {
    const open: AskedInTime = { id: 'q', steps: [{ at: 1, type: 'escalate', by: ['bob'] }] };
    expect([mayAnswer(open, {}, 0), mayAnswer(open, {}, 2), mayAnswer({ ...open, notBy: [] }, {}, 2)]).toEqual([true, true, false]);
  });

  it('is said in words', () => {
    expect(askedText(askedAt(interrupt, 20))).toBe('ada, bob, the role "support", the role "manager"');
    expect(askedText(askedAt({}, 0))).toBe('anybody');
    expect(whyNot(interrupt, { by: 'sam', roles: ['sales'] }, 0)?.message).toBe(
      'Only ada, the role "support" may answer "q"; this answer came from sam (sales).',
    );
    expect(whyNot(interrupt, { by: 'eve', roles: ['sales'] }, 0)?.message).toBe(
      '"q" needs somebody else than eve, who started the run, wrote to this turn of the conversation, or has decided about this call before.' +
        ' Only ada, the role "support" may answer "q"; this answer came from eve (sales).',
    );
  });
});

describe('an answer of somebody to whom a question goes later', () => {
  const asked: Interrupt = { ...interrupt, address: ['a'], agent: 'a', kind: 'question', info: '?' };
  const answer = { interruptId: 'q', answer: 'yes', by: 'mona', roles: ['manager'] };
  it('fits from that time on, by the time at which it was given', () => {
    const at = (time: number, deadline?: number) => () =>
      checkAnswer(deadline === undefined ? asked : { ...asked, deadline }, { ...answer, at: time }, []);
    expect(at(19)).toThrow(errorOf('answer-forbidden'));
    expect(at(20)).not.toThrow();
    expect(at(20, 20)).toThrow(errorOf('interrupt-expired'));
  });
});
