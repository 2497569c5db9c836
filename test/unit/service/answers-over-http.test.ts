import { answerOf, appOn } from '../../support/service-app';

describe('POST /runs/:id/interrupts/:interruptId', () => {
  const taken: unknown[] = [];
  const run = () => ({ resume: (...given: readonly unknown[]) => Promise.resolve(void taken.push(given)) });
  const app = appOn({ run });
  const post = async (body: object, path = 'interrupts/q'): Promise<number> =>
    (await answerOf(app, 'POST', `/runs/r/${path}`, body)).status;

  it.each<[object, unknown, unknown]>([
    [
      { decision: 'approve', upTo: 100, comment: 'Fine.', by: 'ada', roles: ['x'] },
      { type: 'approve', upTo: 100, comment: 'Fine.' },
      { by: 'ada', roles: ['x'] },
    ],
    [{ decision: 'reject', feedback: 'No.', inputHash: 'h' }, { type: 'reject', feedback: 'No.' }, { inputHash: 'h' }],
    [{ decision: 'delegate', to: 'bob', by: 'ada' }, { type: 'delegate', to: 'bob' }, { by: 'ada' }],
    [{ answer: { street: 'Hill 4' }, by: 'ada', roles: ['x'] }, { street: 'Hill 4' }, { by: 'ada', roles: ['x'] }],
  ])('takes %j', async (body, answer, who) => {
    expect(await post(body)).toBe(200);
    expect(taken.pop()).toEqual(['q', answer, who]);
  });

  it.each([
    { decision: 'delegate' },
    { decision: 'approve', to: 'bob' },
    { decision: 'approve', roles: 'x' },
    { decision: 'approve', upTo: '100' },
    { by: 'ada' },
    { answer: 'yes', at: 1 },
    { decision: 'approve', at: 1 },
  ])('refuses %j', async (body) => expect(await post(body)).toBe(400));

  it('takes no word of a body for when a run is cancelled', async () => expect(await post({ at: 1 }, 'cancel')).toBe(400));
});
