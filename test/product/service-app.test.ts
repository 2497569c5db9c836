import type { RunEvent } from '../../contract/plain/events';
import type { HoldfastClient } from '../../client/connect';
import { createLogger } from '../../host/logger';
import { createApp } from '../../service/http/app';
import { quietLogger } from './service-bed';

function clientOf(run: object): HoldfastClient {
  return { run: () => run } as unknown as HoldfastClient;
}

describe('the app on a client of the test', () => {
  it('stops reading when the reader of events goes away', async () => {
    let stopped: () => void = () => undefined;
    const reading = new Promise<void>((resolve) => (stopped = resolve));
    async function* events({ signal }: { signal: AbortSignal }): AsyncGenerator<RunEvent> {
      try {
        yield { type: 'run-start', agent: 'a', input: 'x', offset: 0, time: 0 };
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      } finally {
        stopped();
      }
    }
    const app = createApp({
      client: clientOf({ view: () => Promise.resolve({ status: 'running', nextOffset: 1 }), events }),
      agents: [],
      logger: quietLogger,
    });
    const response = await app.request('/runs/r/events');
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await reading;
  });

  it('says nothing of a defect but logs it', async () => {
    const lines: string[] = [];
    const logger = createLogger({ write: (line) => lines.push(line) });
    const app = createApp({ client: clientOf({ view: () => Promise.reject(new Error('password is 1234')) }), agents: [], logger });
    const response = await app.request('/runs/r');
    const body = await response.text();
    expect(response.status).toBe(500);
    expect(JSON.parse(body)).toMatchObject({ error: { code: 'internal' } });
    expect(body).not.toContain('password');
    expect(body).not.toMatch(/\bat .*:\d+/);
    expect(lines.join('')).toContain('password is 1234');
  });

  it('says when the Temporal server is gone', async () => {
    const gone = Object.assign(new Error('failed'), { cause: Object.assign(new Error('UNAVAILABLE'), { code: 14 }) });
    const app = createApp({ client: clientOf({ view: () => Promise.reject(gone) }), agents: [], logger: quietLogger });
    const response = await app.request('/runs/r');
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ error: { code: 'server-unreachable' } });
  });
});
