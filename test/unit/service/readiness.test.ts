import { HoldfastClient } from '../../../client/connect';
import { HoldfastError } from '../../../contract/errors';
import { readiness } from '../../../service/http/app';
import { answerOf, appOn } from '../../support/service-app';

describe('a service says whether it can serve', () => {
  it('asks the server once a second for all who want to know, and says so when it is away and when it is back', async () => {
    let now = 0;
    let asked = 0;
    let isAway = false;
    const check = async (): Promise<void> => {
      asked += 1;
      if (isAway) throw new HoldfastError('server-unreachable', 'It is away.');
    };
    const ready = readiness({ check }, () => now);
    await Promise.all(Array.from({ length: 50 }, () => ready()));
    expect(asked).toBe(1);
    isAway = true;
    now = 999;
    await ready();
    now = 1000;
    await expect(ready()).rejects.toMatchObject({ code: 'server-unreachable' });
    isAway = false;
    now = 2000;
    await ready();
    expect(asked).toBe(3);
  });

  it.each([
    [4, 'does not answer'],
    [14, 'does not answer'],
    [5, "does not serve the namespace 'default'"],
  ])('tells a server that gives no answer from one that has no such namespace (code %i)', async (code, words) => {
    const describeNamespace = (): Promise<never> => Promise.reject(Object.assign(new Error('no'), { code }));
    const asked = {
      options: { address: 'localhost:1' },
      withDeadline: (_: number, run: () => unknown) => run(),
      workflowService: { describeNamespace },
    };
    const check = HoldfastClient.prototype.check.bind({ parts: { connection: { connection: asked, namespace: 'default' } } } as never);
    await expect(check()).rejects.toMatchObject({ code: 'server-unreachable', message: expect.stringContaining(words) });
  });

  it('answers /readyz with 503 and the code while the server is away, and /health with 200', async () => {
    const check = (): Promise<void> => Promise.reject(new HoldfastError('server-unreachable', 'It is away.'));
    const app = appOn({ check });
    const error = { code: 'server-unreachable', message: 'It is away.' };
    expect(await answerOf(app, 'GET', '/readyz')).toMatchObject({ status: 503, body: { error } });
    expect((await app.request('/health')).status).toBe(200);
  });
});
