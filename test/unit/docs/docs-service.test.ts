import { randomBytes } from 'node:crypto';
import type { Payload } from '@temporalio/common';
import type { Delta } from 'holdfast/client';
import { runExamples } from '../../support/document-examples';

const { deltasFrom, deltasTo, sealed, withLogin } = runExamples(['operations/own-service'], require);

it('the codec of the page gives back what it has sealed, passes over what is not sealed, and refuses what somebody changed', async () => {
  const codec = sealed(randomBytes(32));
  const payload = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{"card":"4111"}') };
  const [shut] = await codec.encode([payload]);
  expect(Buffer.from(shut?.data ?? []).toString('latin1')).not.toContain('4111');
  const [opened] = await codec.decode([shut as Payload]);
  expect(Buffer.from(opened?.data ?? []).toString()).toBe('{"card":"4111"}');
  expect(await codec.decode([payload])).toEqual([payload]);
  const changed = { ...shut, data: Buffer.from(shut?.data ?? []).fill(0, 20, 21) } as Payload;
  await expect(codec.decode([changed])).rejects.toThrow();
});

describe('the login of the page', () => {
  const heard: { readonly path: string; readonly body: unknown }[] = [];
  const api = {
    fetch: async (request: Request) => {
      heard.push({ path: new URL(request.url).pathname, body: request.method === 'GET' ? undefined : await request.json() });
      return new Response('ok');
    },
  };
  const ada = { name: 'ada', roles: ['finance'] };
  const service = withLogin(api, async (request: Request) => (request.headers.get('authorization') === 'ada' ? ada : undefined));
  const asked = async (path: string, body?: object, headers: Record<string, string> = { authorization: 'ada' }): Promise<number> => {
    const how = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    return (await service(new Request(`http://agents.example${path}`, { headers, ...how }))).status;
  };

  it('lets nobody in who has not logged in, nor anybody to routes that do not know a name', async () => {
    expect(await asked('/runs', undefined, {})).toBe(401);
    expect(await asked('/agui/support', {})).toBe(404);
    expect(heard).toEqual([]);
  });

  it('says who acts, whatever the body says', async () => {
    await asked('/runs', { agent: 'support', input: 'Hi', by: 'bob' });
    await asked('/runs/r/interrupts/i/answer', { decision: 'approve', by: 'bob', roles: ['boss'] });
    await asked('/interrupts/answer', { answers: [{ runId: 'r', interruptId: 'i', decision: 'approve' }] });
    await asked('/runs/r/upgrade', {});
    expect(heard.map(({ body }) => body)).toEqual([
      { agent: 'support', input: 'Hi', by: 'ada' },
      { decision: 'approve', by: 'ada', roles: ['finance'] },
      { answers: [{ runId: 'r', interruptId: 'i', decision: 'approve', by: 'ada', roles: ['finance'] }] },
      {},
    ]);
  });
});

it('tokens of a worker of another process come to whoever reads, also to those who come late', () => {
  const hearers: ((text: string) => void)[] = [];
  const bus = deltasFrom((heard: (text: string) => void) => void hearers.push(heard));
  const sink = deltasTo((text: string) => hearers.forEach((heard) => heard(text)));
  const place = { agent: 'support', runPath: ['support'], address: 'support/t1/model', attempt: 0 };
  const told: string[] = [];
  const say = (body: object): void => sink.publish('run', { ...place, ...body });
  say({ type: 'attempt-start' });
  say({ type: 'text-delta', text: 'Hel' });
  bus.subscribe('run', (delta: Delta) => void told.push(delta.type === 'text-delta' ? delta.text : delta.type));
  say({ type: 'text-delta', text: 'lo' });
  sink.settle('run', place.address);
  expect(told).toEqual(['attempt-start', 'Hel', 'lo']);
  const late: unknown[] = [];
  bus.subscribe('run', (delta: Delta) => void late.push(delta));
  expect(late).toEqual([]);
});
