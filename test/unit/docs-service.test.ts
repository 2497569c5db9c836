import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { PayloadCodec, Payload } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { getRequestListener } from '@hono/node-server';
import { connect } from 'holdfast/client';
import { ProcessBus, createApp, createLogger, loadProject, readConfiguration, startService } from 'holdfast/service';
import type { Delta } from 'holdfast/client';
import type { WorkerOptions } from 'holdfast/worker';
import { describeExamples } from '../support/document-examples';

export async function serve(): Promise<() => Promise<void>> {
  const { server, taskQueue, tenant, host, port } = readConfiguration();
  if (server === undefined) throw new Error('TEMPORAL_ADDRESS is missing.');
  const { agents, config } = await loadProject('holdfast.config.ts');
  const client = await connect({ server, taskQueue, tenant });
  const policies = () => config.policies;
  const prices = () => config.models?.prices;
  const service = await startService({ client, agents, policies, prices, logger: createLogger(), host, port });
  return async () => {
    await service.close();
    await client.close();
  };
}

export function sealed(key: Buffer): PayloadCodec {
  const seal = (payload: Payload): Payload => {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', key, nonce);
    const text = cipher.update(temporal.api.common.v1.Payload.encode(payload).finish());
    const data = Buffer.concat([nonce, text, cipher.final(), cipher.getAuthTag()]);
    return { metadata: { encoding: Buffer.from('binary/sealed') }, data };
  };
  const open = (payload: Payload): Payload => {
    const { metadata, data } = payload;
    if (data == null || Buffer.from(metadata?.['encoding'] ?? []).toString() !== 'binary/sealed') return payload;
    const cipher = createDecipheriv('aes-256-gcm', key, data.subarray(0, 12)).setAuthTag(data.subarray(-16));
    return temporal.api.common.v1.Payload.decode(Buffer.concat([cipher.update(data.subarray(12, -16)), cipher.final()]));
  };
  return { encode: async (payloads) => payloads.map(seal), decode: async (payloads) => payloads.map(open) };
}

interface User {
  readonly name: string;
  readonly roles: readonly string[];
}
interface Api {
  fetch(request: Request): Response | Promise<Response>;
}
const acts = /^\/(runs|interrupts|conversations|policies)(\/|$)/;
const nameless = /\/(upgrade|terminate)$/;

/** The routes that read, and those that act in the name of whoever has logged in. */
export function withLogin(api: Api, userOf: (request: Request) => Promise<User | undefined>): (request: Request) => Promise<Response> {
  return async (request) => {
    const user = await userOf(request);
    if (user === undefined) return new Response('Log in.', { status: 401 });
    if (request.method === 'GET') return api.fetch(request);
    const { pathname } = new URL(request.url);
    if (request.method !== 'POST' || !acts.test(pathname)) return new Response('This service has no such route.', { status: 404 });
    if (nameless.test(pathname)) return api.fetch(request);
    const body = (await request.json().catch(() => ({}))) as Record<string, unknown>;
    const named = Array.isArray(body['answers'])
      ? { ...body, answers: body['answers'].map((answer: object) => inNameOf(user, answer)) }
      : inNameOf(user, body);
    const headers = { 'content-type': 'application/json' };
    return api.fetch(new Request(request.url, { method: 'POST', headers, body: JSON.stringify(named), signal: request.signal }));
  };
}

/** What a body says of who acts does not count. */
function inNameOf({ name, roles }: User, body: object): object {
  return { ...body, by: name, ...('answer' in body || 'decision' in body ? { roles } : {}) };
}

export function listen(parts: Parameters<typeof createApp>[0], userOf: (request: Request) => Promise<User | undefined>): void {
  createServer(getRequestListener(withLogin(createApp(parts), userOf))).listen(8080);
}

/** For the worker: tells each delta as a text. */
export function deltasTo(send: (text: string) => void): NonNullable<WorkerOptions['deltas']> {
  return {
    publish: (runId, delta) => send(JSON.stringify({ runId, delta })),
    settle: (runId, address) => send(JSON.stringify({ runId, address })),
  };
}

/** For the service: what it hears goes to the readers of this process. */
export function deltasFrom(listen: (heard: (text: string) => void) => void): ProcessBus {
  const bus = new ProcessBus();
  listen((text) => {
    const { runId, delta, address } = JSON.parse(text) as { runId: string; delta?: Delta; address: string };
    if (delta === undefined) bus.settle(runId, address);
    else bus.publish(runId, delta);
  });
  return bus;
}

describeExamples(['operations/own-service'], __filename, 4);

describe('the codec of the page', () => {
  it('gives back what it has sealed, passes over what is not sealed, and refuses what somebody changed', async () => {
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
});

describe('the login of the page', () => {
  const heard: { readonly path: string; readonly body: unknown }[] = [];
  const api: Api = {
    fetch: async (request) => {
      heard.push({ path: new URL(request.url).pathname, body: request.method === 'GET' ? undefined : await request.json() });
      return new Response('ok');
    },
  };
  const ada = { name: 'ada', roles: ['finance'] };
  const service = withLogin(api, async (request) => (request.headers.get('authorization') === 'ada' ? ada : undefined));
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
  const bus = deltasFrom((heard) => void hearers.push(heard));
  const sink = deltasTo((text) => hearers.forEach((heard) => heard(text)));
  const place = { agent: 'support', runPath: ['support'], address: 'support/t1/model', attempt: 0 };
  const told: string[] = [];
  const say = (body: object): void => sink.publish('run', { ...place, ...body } as unknown as Delta);
  say({ type: 'attempt-start' });
  say({ type: 'text-delta', text: 'Hel' });
  bus.subscribe('run', (delta) => void told.push(delta.type === 'text-delta' ? delta.text : delta.type));
  say({ type: 'text-delta', text: 'lo' });
  sink.settle('run', place.address);
  expect(told).toEqual(['attempt-start', 'Hel', 'lo']);
  const late: unknown[] = [];
  bus.subscribe('run', (delta) => void late.push(delta));
  expect(late).toEqual([]);
});
