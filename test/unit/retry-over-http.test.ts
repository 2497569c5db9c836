import type { HoldfastClient } from '../../client/connect';
import { HoldfastError } from '../../contract/errors';
import { createLogger } from '../../host/logger';
import { createApp } from '../../service/http/app';

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
  const client = { run, withDeadline: (_: number, ask: () => unknown) => ask() } as unknown as HoldfastClient;
  const app = createApp({ client, agents: [], logger: createLogger({ write: () => undefined }) });
  const post = async (id: string, body: object): Promise<{ status: number; body: unknown }> => {
    const headers = { 'content-type': 'application/json' };
    const response = await app.request(`/runs/${id}/retry`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: response.status, body: await response.json() };
  };

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
