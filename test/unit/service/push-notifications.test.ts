import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RunEvent } from '../../../contract/events';
import { limits } from '../../../contract/limits';
import { isFinal, sendSigned, signedHeaders } from '../../../service/outgoing/send-signed';
import { noticeOf, statesAt } from '../../../service/a2a/push/watch-task';
import { A2aOptionsSchema, headersFor } from '../../../service/a2a/push/targets';
import { allowedUrl, isPublic } from '../../../service/outgoing/addresses';
import { TaskFold } from '../../../service/a2a/task-fold';
import { errorOf, errorSaying } from '../../support/failures';

describe('where a push notification may go', () => {
  it.each([
    ['http://127.0.0.1:9/hook', ['loopback']],
    ['http://localhost/hook', ['loopback']],
    ['http://[::1]:9/', ['loopback']],
    ['https://example.com/a?b=c', ['public']],
    ['https://93.184.215.14/', ['public']],
    ['http://hooks.internal:8080/x', ['http://hooks.internal:8080']],
  ])('%s is allowed by %j', (url, to) => expect(() => allowedUrl(url, to)).not.toThrow());

  it.each([
    ['https://example.com/', []],
    ['https://example.com/', ['loopback']],
    ['http://example.com/', ['public']],
    ['http://127.0.0.1/', ['public']],
    ['https://127.0.0.1/', ['public']],
    ['https://2130706433/', ['public']],
    ['https://0x7f.1/', ['public']],
    ['https://10.0.0.8/', ['public']],
    ['https://169.254.169.254/latest/meta-data', ['public']],
    ['https://[::ffff:169.254.169.254]/', ['public']],
    ['https://[fd00::1]/', ['public']],
    ['https://[2002:7f00:1::]/', ['public']],
    ['http://localhost.example.com/', ['loopback']],
    ['http://hooks.internal:8081/x', ['http://hooks.internal:8080']],
    ['https://hooks.internal:8080/x', ['http://hooks.internal:8080']],
    ['https://hooks.example.com.evil.example/', ['https://hooks.example.com']],
    ['https://hooks.example.com@evil.example/', ['https://hooks.example.com']],
    ['https://ada:secret@hooks.example.com/', ['https://hooks.example.com']],
    ['ftp://example.com/', ['public']],
    ['file:///etc/passwd', ['public', 'loopback']],
    ['javascript:alert(1)', ['public', 'loopback']],
    ['/hook', ['public', 'loopback']],
    ['', ['public', 'loopback']],
    [`https://example.com/${'a'.repeat(2000)}`, ['public']],
  ])('%s is refused by %j', (url, to) => expect(() => allowedUrl(url, to)).toThrow(errorOf('push-refused')));

  const private4 = '0.0.0.0 10.1.2.3 100.64.0.1 127.9.9.9 169.254.1.1 172.31.0.1 192.168.1.1 198.18.0.1 224.0.0.1 255.255.255.255';
  const private6 = ':: ::1 ::ffff:8.8.8.8 fe80::1 fc00::1 ff02::1 2001:db8::1 64:ff9b::a00:1';
  it.each([...`${private4} ${private6}`.split(' '), 'nonsense'])('%s is not of the internet', (address) =>
    expect(isPublic(address)).toBe(false),
  );
  it.each(['8.8.8.8', '93.184.215.14', '2606:4700:4700::1111'])('%s is', (address) => expect(isPublic(address)).toBe(true));
});

describe('a2a.push of the configuration', () => {
  const problemOf = (push: unknown): string | undefined => A2aOptionsSchema.safeParse({ push }).error?.issues[0]?.message;
  it('takes public, loopback and origins', () =>
    expect(problemOf({ to: ['public', 'loopback', 'https://hooks.example.com', 'http://10.0.0.8:8080'] })).toBeUndefined());
  const origins = 'everything * hooks.example.com https://hooks.example.com/ https://hooks.example.com/path ftp://a https://ada:x@a';
  it.each([...origins.split(' '), ''])('refuses %j', (to) =>
    expect(problemOf({ to: [to] })).toMatch(/is not 'public', 'loopback', or an origin/),
  );
  it.each([{}, { to: 'public' }, { to: [1] }, { to: [], from: 1 }])('refuses %j', (push) => expect(problemOf(push)).toBeDefined());
});

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const other = `whsec_${Buffer.alloc(24, 9).toString('base64')}`;
const notice = { id: 'msg_1', body: '{"statusUpdate":{"taskId":"c~m"}}' };

const signatureOf = (one: string, signed: string): string =>
  `v1,${createHmac('sha256', Buffer.from(one.slice('whsec_'.length), 'base64'))
    .update(signed)
    .digest('base64')}`;

it('is signed as in the example of Standard Webhooks', () => {
  const example = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1614265330, body: '{"test": 2432232314}' };
  const signed = signedHeaders(example, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
  expect(signed['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

interface Receiver {
  readonly url: string;
  readonly heard: { readonly headers: IncomingHttpHeaders; readonly body: string }[];
}

async function withReceiver(answer: RequestListener, act: (receiver: Receiver) => Promise<void>): Promise<void> {
  const heard: Receiver['heard'] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (data: Buffer) => (body += data.toString()));
    request.on('end', () => {
      heard.push({ headers: request.headers, body });
      answer(request, response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await act({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const send = (url: string, more: object = {}, settings: object = {}): Promise<void> =>
  sendSigned(url, notice, { to: ['loopback'], secret, headers: headersFor(more), ...settings });

describe('a push notification', () => {
  it('is signed by each secret as Standard Webhooks says, with the token and the credentials of the receiver', async () => {
    await withReceiver(
      (_, response) => response.end(),
      async ({ url, heard }) => {
        const receiver = { token: 'tok', authentication: { scheme: 'Bearer', credentials: 'abc' } };
        await send(`${url}/hook`, receiver, { secret: `${secret} ${other}` });
        const [{ headers, body }] = heard as [Receiver['heard'][0]];
        const timestamp = String(headers['webhook-timestamp']);
        expect(Math.abs(Number(timestamp) - Date.now() / 1000)).toBeLessThan(60);
        expect(body).toBe(notice.body);
        expect(headers['webhook-signature']).toBe([secret, other].map((one) => signatureOf(one, `msg_1.${timestamp}.${body}`)).join(' '));
        expect(headers).toMatchObject({
          'content-type': 'application/a2a+json',
          'webhook-id': 'msg_1',
          'x-a2a-notification-token': 'tok',
          authorization: 'Bearer abc',
        });
      },
    );
  });

  it.each([199 + 101, 302, 307, 400, 404, 429, 500, 503])(
    'is sent again when the receiver answers %i, and no redirect is followed',
    async (status) => {
      await withReceiver(
        (_, response) => response.writeHead(status, { location: 'http://127.0.0.1:1/private' }).end(),
        async ({ url, heard }) => {
          const error = await send(url).catch((thrown: unknown) => thrown);
          expect(error).toMatchObject({ message: `The receiver of notifications answered ${status}.` });
          expect(isFinal(error)).toBe(false);
          expect(heard).toHaveLength(1);
        },
      );
    },
  );

  it('fails at once when the receiver changes to another protocol, which has no response for Node', async () => {
    await withReceiver(
      (_, response) => void response.socket?.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
      async ({ url }) => expect(send(url)).rejects.toThrow('gave no answer'),
    );
  });

  it('is not sent again when the receiver answers 410, or may not be told any more', async () => {
    await withReceiver(
      (_, response) => response.writeHead(410).end(),
      async ({ url, heard }) => {
        expect(isFinal(await send(url).catch((error: unknown) => error))).toBe(true);
        expect(isFinal(await send(url, {}, { to: ['public'] }).catch((error: unknown) => error))).toBe(true);
        expect(heard).toHaveLength(1);
      },
    );
  });

  it('gives up on a receiver that answers too slowly, or never, and does not read what it answers', async () => {
    await withReceiver(
      () => undefined,
      async ({ url }) => expect(send(url, {}, { tryMs: 100 })).rejects.toThrow('did not answer in time'),
    );
    await withReceiver(
      (_, response) => {
        response.writeHead(200);
        response.write('x'.repeat(1000));
      },
      async ({ url }) => expect(send(url)).resolves.toBeUndefined(),
    );
  });

  it('goes to no name that stands for a private address, whatever it stood for when it was named', async () => {
    const refusal = (url: string) => send(url, {}, { to: ['public'] }).catch((thrown: unknown) => thrown);
    const error = await refusal('https://localhost.localdomain:1/');
    // A machine without the name reports ENOTFOUND.
    expect(['push-refused', 'ENOTFOUND', 'EAI_AGAIN']).toContain((error as { code?: string }).code);
    expect(await refusal('https://localhost:1/')).toMatchObject(errorSaying('push-refused', /localhost: it is (127\.0\.0\.1|::1)/));
  });
});

const base = { agent: 'agent', runPath: ['c'], time: 1000 };
const asked = { kind: 'approval', agent: 'agent', tool: 'refund', input: {}, inputHash: 'h', options: [] };
const approval = (id: string) => ({ ...asked, id, callId: id });
const log = [
  { type: 'turn-start', turn: 1, offset: 0 },
  { type: 'message', id: 'other', turn: 1, offset: 1, message: { id: 'o', role: 'user', parts: [] } },
  { type: 'turn-end', turn: 1, status: 'completed', usage: {}, offset: 2 },
  { type: 'turn-start', turn: 2, offset: 3 },
  { type: 'message', id: 'm', turn: 2, offset: 4, message: { id: 'm', role: 'user', parts: [] } },
  { type: 'interrupt-start', interrupt: approval('a'), offset: 5 },
  { type: 'interrupt-start', interrupt: approval('b'), offset: 6 },
  { type: 'interrupt-end', interruptId: 'a', reason: 'answer', answer: {}, offset: 7 },
  { type: 'interrupt-end', interruptId: 'b', reason: 'deadline', offset: 8 },
  { type: 'turn-end', turn: 2, status: 'completed', usage: {}, offset: 9 },
  { type: 'turn-start', turn: 3, offset: 10 },
].map((event) => ({ ...base, ...event }) as unknown as RunEvent);

const statesIn = (events: readonly RunEvent[], message = 'm'): readonly string[] => {
  const fold = new TaskFold({ contextId: 'c', message });
  return events.flatMap((event) => statesAt(fold, event).map(({ offset, status }) => `${offset} ${status.state.slice(11)}`));
};

describe('the states of a task', () => {
  it('are those of its turn, each time the log is read', () => {
    const all = ['4 WORKING', '5 INPUT_REQUIRED', '6 INPUT_REQUIRED', '7 INPUT_REQUIRED', '8 WORKING', '9 COMPLETED'];
    expect(statesIn(log)).toEqual(all);
    expect(statesIn(log.slice(3))).toEqual(all);
    expect(statesIn(log, 'other')).toEqual(['1 WORKING', '2 COMPLETED']);
  });

  it('end where a message was taken back, did not count, or the conversation ended before its turn', () => {
    const left = (event: object): readonly string[] => statesIn([{ ...base, offset: 11, ...event } as unknown as RunEvent], 'late');
    expect(left({ type: 'message-withdrawn', id: 'late' })).toEqual(['11 CANCELED']);
    expect(left({ type: 'message-ignored', id: 'late', code: 'conversation-full' })).toEqual(['11 REJECTED']);
    expect(left({ type: 'run-end', status: 'completed' })).toEqual(['11 REJECTED']);
    expect(left({ type: 'message-withdrawn', id: 'another' })).toEqual([]);
  });

  it('have one id each, and leave out what does not fit', () => {
    const [small, large] = ['why?', 'x'.repeat(limits.pushBody)].map((text) => {
      const state = { offset: 5, status: { state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ text }] } } };
      return noticeOf({ contextId: 'c', message: 'm' }, state as unknown as Parameters<typeof noticeOf>[1]);
    });
    expect(small?.id).toBe(large?.id);
    expect(small?.body).toContain('why?');
    expect(large?.body).toBe('{"statusUpdate":{"taskId":"c~m","contextId":"c","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}}');
  });
});
