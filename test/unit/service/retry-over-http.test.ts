import { HoldfastError } from '../../../contract/errors';
import { answerOf, appOn } from '../../support/service-app';

describe('POST /runs/:id/retry', () => {
  const asked: unknown[] = [];
  const run = (id: string) => ({
    id,
    retry: (options: object) => {
      if (id === 'done') return Promise.reject(new HoldfastError('run-not-failed', 'The run "done" has not failed: it has completed.'));
      asked.push([id, options]);
      return Promise.resolve();
    },
  });
  const app = appOn({ run });
  const post = (id: string, body: object) => answerOf(app, 'POST', `/runs/${id}/retry`, body);

  it('says who retries, and until when', async () => {
    expect(await post('r1', { by: 'ada', deadline: '1h' })).toEqual({ status: 200, body: { id: 'r1' } });
    expect(await post('r2', {})).toEqual({ status: 200, body: { id: 'r2' } });
    expect(asked).toEqual([
      ['r1', { by: 'ada', deadline: '1h' }],
      ['r2', {}],
    ]);
  });

  it('refuses a run that has not failed, and a body with something else', async () => {
    expect(await post('done', {})).toMatchObject({ status: 409, body: { error: { code: 'run-not-failed', fix: expect.any(String) } } });
    expect(await post('r1', { force: true })).toMatchObject({ status: 400, body: { error: { code: 'request-invalid' } } });
  });
});
