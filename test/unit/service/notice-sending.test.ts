import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import type { RunEvent } from '../../../contract/events';
import type { Interrupt } from '../../../contract/interrupts';
import { Links, shownHash } from '../../../service/access/links';
import type { NoticeParts } from '../../../service/notices/notice-body';
import { noticeSender } from '../../../service/notices/notice-body';
import type { NotifyOptions } from '../../../service/notices/options';
import type { Notice } from '../../../service/notices/outbox';
import { errorOf } from '../../support/failures';
import { memoryStore } from '../../support/memory-store';
import { clientWith } from '../../support/service-app';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const service = 'https://agents.example.com';
const question: Interrupt = { id: 'ask.1', address: [], agent: 'clerk', kind: 'question', info: 'Where to?', by: ['ada', 'bob'] };
const end = new AbortController();

interface Heard {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const heard: Heard[] = [];
let status = 204;
const receiver = createServer((request, response) => {
  let body = '';
  request.on('data', (part: Buffer) => (body += part.toString()));
  request.on('end', () => {
    heard.push({ headers: request.headers, body });
    response.writeHead(status, { location: '/elsewhere' }).end('read by nobody');
  });
});
let port = 0;

beforeAll(async () => {
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  port = (receiver.address() as AddressInfo).port;
});
beforeEach(() => {
  heard.length = 0;
  status = 204;
});
afterAll(() => void (receiver.closeAllConnections(), receiver.close()));

function bed(options: Partial<NotifyOptions> = {}, { open = [question] as readonly Interrupt[], hasUrl = true } = {}) {
  const to = `http://127.0.0.1:${port}/hooks`;
  const links = new Links(memoryStore(), { expires: '2h' });
  const audited: object[] = [];
  const tenants: string[] = [];
  const members = {
    forTenant: (tenant: string) => {
      tenants.push(tenant);
      return clientWith({ run: () => ({ interrupts: () => Promise.resolve(open) }) });
    },
  };
  const audit = { write: (entry: object) => Promise.resolve(void audited.push(entry)) } as unknown as NonNullable<
    NoticeParts['access']
  >['audit'];
  const warnings: string[] = [];
  const logger = { warn: (text: string) => void warnings.push(text) };
  const parts: NoticeParts = {
    client: clientWith(members),
    store: memoryStore(),
    logger,
    url: () => (hasUrl ? service : undefined),
    access: { links, audit },
  };
  const send = noticeSender(parts, [
    { to, secret, on: ['waiting', 'escalate', 'completed', 'failed', 'stuck'], private: true, ...options },
  ]);
  return {
    links,
    audited,
    warnings,
    tenants,
    parts,
    send: (notice: Partial<Notice> = {}) => send('acme', { ...waiting, to: options.to ?? to, ...notice }, end.signal),
    async told(notice: Partial<Notice> = {}) {
      await send('acme', { ...waiting, to, ...notice }, end.signal);
      return JSON.parse(heard.at(-1)?.body ?? '') as {
        readonly type: string;
        readonly timestamp: string;
        readonly data: Record<string, unknown>;
      };
    },
  };
}

const eventOf = (body: object): RunEvent => ({ offset: 3, time: 1, ...body }) as unknown as RunEvent;

const waiting: Omit<Notice, 'to'> = {
  id: 'msg_1',
  type: 'waiting',
  run: { run: 'order-7', agent: 'clerk', tags: ['night'], startedBy: 'kim' },
  at: Date.parse('2026-11-28T08:00:00.000Z'),
  event: eventOf({ type: 'interrupt-start', interrupt: question }),
  since: Date.now(),
  attempts: 0,
};

describe('a notice', () => {
  it('is signed by Standard Webhooks, and says what waits, where, and with which link each asked person answers', async () => {
    const { told, links, audited, tenants } = bed();
    const { type, timestamp, data } = await told();
    const [{ headers, body }] = heard as [Heard];
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({ type });
    expect(headers).toMatchObject({ 'webhook-id': 'msg_1', 'content-type': 'application/json' });
    expect([type, timestamp, tenants]).toEqual(['run.waiting', '2026-11-28T08:00:00.000Z', ['acme']]);
    const { links: given, ...rest } = data;
    const about = { tenant: 'acme', run: 'order-7', agent: 'clerk', tags: ['night'], startedBy: 'kim', url: `${service}/#/runs/order-7` };
    expect(rest).toEqual({ ...about, interruptId: 'ask.1', isOpen: true, interrupt: question });
    const made = given as readonly { readonly for: string; readonly url: string; readonly expires: string }[];
    expect(made.map((link) => link.for)).toEqual(['ada', 'bob']);
    const token = made[0]?.url.replace(`${service}/decide/`, '') ?? '';
    expect(await links.read(token)).toMatchObject({
      tenant: 'acme',
      run: 'order-7',
      interrupt: 'ask.1',
      user: 'ada',
      roles: [],
      hash: shownHash(question),
    });
    expect(Date.parse(made[0]?.expires ?? '')).toBe(waiting.since + 2 * 3_600_000);
    expect(audited).toEqual(
      ['ada', 'bob'].map((user) => ({ what: 'link-made', tenant: 'acme', run: 'order-7', interrupt: 'ask.1', for: user, roles: [] })),
    );
  });

  it('has the same links in each attempt, which the audit log has once', async () => {
    const { told, audited } = bed();
    const first = await told();
    expect((await told({ attempts: 1 })).data['links']).toEqual(first.data['links']);
    expect(audited).toHaveLength(2);
  });

  it('has other links, which the audit log has, too, after half of their time', async () => {
    const { told, audited } = bed();
    const linkOf = ({ data }: Awaited<ReturnType<typeof told>>) =>
      (data['links'] as readonly { readonly url: string; readonly expires: string }[])[0];
    const first = linkOf(await told({ since: Date.now() }));
    const later = linkOf(await told({ since: Date.now() - 5 * 3_600_000, attempts: 40 }));
    expect(later?.url).not.toBe(first?.url);
    expect(Date.parse(later?.expires ?? '')).toBeGreaterThanOrEqual(Date.now() + 3_600_000 - 1000);
    expect(audited).toHaveLength(4);
  });

  it('has no link for a person whose link would be too long, and has the other links', async () => {
    const roles = Array.from({ length: 20 }, (_, at) => `${at}`.padEnd(64, 'r'));
    const { told, warnings } = bed({ people: () => [{ user: 'e'.repeat(200), roles }, { user: 'ada' }] });
    expect((await told()).data['links']).toMatchObject([{ for: 'ada' }]);
    expect(warnings).toEqual([expect.stringContaining('has no link for eee')]);
  });

  it('has links for the people whom the function `people` names, with their roles', async () => {
    const asked: unknown[] = [];
    const people = async (of: unknown) => (asked.push(of), [{ user: 'eve', roles: ['finance'] }]);
    const approval = {
      ...question,
      kind: 'approval',
      tool: 'pay',
      inputHash: 'h',
      callId: 'c',
      input: {},
      by: undefined,
      roles: ['finance'],
    } as unknown as Interrupt;
    const { told, links } = bed({ people }, { open: [approval] });
    const { data } = await told();
    const [{ url }] = data['links'] as [{ readonly url: string }];
    expect(await links.read(url.replace(`${service}/decide/`, ''))).toMatchObject({ user: 'eve', roles: ['finance'] });
    expect(asked).toEqual([{ tenant: 'acme', run: 'order-7', agent: 'clerk', tags: ['night'], roles: ['finance'], tool: 'pay' }]);
  });

  it.each([[undefined], ['eve'], [[{ user: '' }]], [[{ name: 'eve' }]], [[{ user: 'eve', roles: ['a b'] }]]])(
    'waits while `people` gives %j',
    (found) => expect(bed({ people: () => found as never }).send()).rejects.toThrow(errorOf('config-invalid')),
  );

  it('says that the question waits no longer, without links', async () => {
    const { told } = bed({}, { open: [] });
    expect((await told()).data).toMatchObject({ interruptId: 'ask.1', isOpen: false, links: [] });
  });

  it('has people whom the escalation has added', async () => {
    const step = { at: Date.now() + 60_000, type: 'escalate', by: ['cleo'] } as const;
    const { told } = bed({}, { open: [{ ...question, steps: [step] }] });
    const event = eventOf({ type: 'interrupt-escalate', interruptId: 'ask.1', at: step.at, by: ['cleo'] });
    const { data } = await told({ type: 'escalate', event });
    expect((data['links'] as readonly { readonly for: string }[]).map((link) => link.for)).toEqual(['ada', 'bob', 'cleo']);
  });

  it('has no links without names that are proven, and no addresses before the address of the service is known', async () => {
    const { parts, told } = bed({}, { hasUrl: false });
    expect((await told()).data).toMatchObject({ isOpen: true, links: [] });
    const { access: _, ...open } = { ...parts, url: () => service };
    const to = `http://127.0.0.1:${port}/`;
    await noticeSender(open, [{ to, secret, on: ['waiting'], private: true }])('acme', { ...waiting, to }, end.signal);
    expect(JSON.parse(heard.at(-1)?.body ?? '')).toMatchObject({ data: { url: `${service}/#/runs/order-7`, links: [] } });
  });

  it.each<[Notice['type'], object, object]>([
    [
      'completed',
      { type: 'run-end', status: 'completed', output: { paid: true }, text: 'Paid.' },
      { output: { paid: true }, text: 'Paid.' },
    ],
    ['failed', { type: 'run-end', status: 'failed', error: { code: 'x', message: 'No.' } }, { error: { code: 'x', message: 'No.' } }],
  ])('says how a run %s', async (type, event, says) => {
    const { data } = await bed().told({ type, event: eventOf(event) });
    expect(data).toMatchObject(says);
    expect(data).not.toHaveProperty('links');
  });

  it('says why a run is stuck', async () => {
    const error = { code: 'run-stuck', message: 'The code changed.' };
    const { event: _, ...stuck } = waiting;
    await bed().send({ ...stuck, type: 'stuck', event: undefined as never, error });
    expect(JSON.parse(heard[0]?.body ?? '')).toMatchObject({ type: 'run.stuck', data: { error } });
  });

  it('is short if its run has a long result', async () => {
    const { data } = await bed().told({
      type: 'completed',
      event: eventOf({ type: 'run-end', status: 'completed', output: 'é'.repeat(40_000) }),
    });
    expect(data).toMatchObject({ run: 'order-7', isShort: true });
    expect(data).not.toHaveProperty('output');
  });

  it.each([301, 400, 500])('is not taken by an answer %i, and follows no redirect', async (answer) => {
    status = answer;
    await expect(bed().send()).rejects.toThrow(`answered ${answer}`);
    expect(heard).toHaveLength(1);
  });

  it.each(['https://localhost/hooks', 'https://localhost:1/'])('reaches no address of this machine through %s', (to) =>
    expect(bed({ to, private: false }).send()).rejects.toThrow(errorOf('push-refused')),
  );

  it('to a receiver that the configuration no longer has is refused for good', () =>
    expect(bed().send({ to: 'https://old.example.com/' })).rejects.toThrow(errorOf('push-refused')));
});
