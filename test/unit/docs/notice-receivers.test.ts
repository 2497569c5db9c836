import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { gate } from '../../support/gate';
import { secret, signedAs } from '../../support/trigger-bed';

const root = resolve(__dirname, '..', '..', '..');
const link = { for: 'ada', url: `https://desk.example.com/decide/${'w'.repeat(120)}` };
const notice = {
  type: 'run.waiting',
  timestamp: '2026-11-28T02:00:00.000Z',
  data: {
    run: 'ticket-25',
    agent: 'clerk',
    tags: [],
    interrupt: { kind: 'approval', tool: 'refund', input: { order: '25' } },
    links: [link],
  },
};

/** Whom the receiver tells. */
interface Other {
  readonly environment: Readonly<Record<string, string>>;
  readonly taken: string[];
  /** Whether the other side takes a message. */
  takes: () => Promise<boolean>;
  close(): void;
}

const takes = async (): Promise<boolean> => true;

async function slack(): Promise<Other> {
  const taken: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const message = await text(request);
      const isTaken = await other.takes();
      if (isTaken) taken.push(message);
      response.writeHead(isTaken ? 200 : 503).end('ok');
    })();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/services/T0/B0/x`;
  const other: Other = { environment: { SLACK_URL: url }, taken, takes, close: () => void server.close() };
  return other;
}

async function mail(): Promise<Other> {
  const taken: string[] = [];
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData: (stream, _, done) => {
      void (async () => {
        const message = (await text(stream)).replace(/=\r\n/g, '');
        if (!(await other.takes())) return done(Object.assign(new Error('Try later.'), { responseCode: 451 }));
        taken.push(message);
        done();
      })();
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const url = `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
  const environment = { SMTP_URL: url, MAIL_FROM: 'holdfast@example.com', MAIL_TO: 'ada@example.com' };
  const other: Other = { environment, taken, takes, close: () => void server.close() };
  return other;
}

describe.each([
  ['slack', slack, ['"type":"button"', `"url":"${link.url}"`, 'Decide as ada', 'refund {\\"order\\":\\"25\\"}']],
  ['mail', mail, ['To: ada@example.com', 'Subject: clerk: run.waiting', `Decide as ada: ${link.url}`, 'refund {"order":"25"}']],
])('the receiver of notices for %s', (program, open, parts) => {
  let other: Other;
  let receiver: ChildProcess;
  let url = '';
  beforeAll(async () => {
    other = await open();
    const file = join(root, 'examples', 'backoffice', 'notices', `${program}.ts`);
    receiver = spawn(process.execPath, [join(root, 'node_modules', 'jiti', 'lib', 'jiti-cli.mjs'), file], {
      env: { ...process.env, ...other.environment, NOTICE_SECRET: secret, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const chunk of receiver.stdout!) if (([, url = ''] = /(http:\S+)/.exec(String(chunk)) ?? [])[0]) break;
  });
  afterAll(async () => {
    const closed = once(receiver, 'close');
    receiver.kill();
    await closed;
    other.close();
  });
  beforeEach(() => void (other.taken.length = 0));

  const send = async (headers: Record<string, string>, body: object = notice): Promise<number> =>
    (await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) })).status;
  const signed = (id: string) => signedAs(JSON.stringify(notice), { id });

  it('tells of a notice once, also if a repeat comes while the message is sent, and shows the link', async () => {
    const { reached, open: goOn, pass } = gate();
    other.takes = async () => {
      await pass();
      return true;
    };
    const first = send(signed('msg_1'));
    await reached;
    const repeat = send(signed('msg_1'));
    // The answer shows that the receiver has the repeat.
    expect(await send({})).toBe(401);
    goOn();
    expect([await first, await repeat, await send(signed('msg_1'))]).toEqual([204, 204, 204]);
    expect(other.taken).toHaveLength(1);
    expect(parts.filter((part) => !other.taken[0]!.includes(part))).toEqual([]);
  });

  it('answers 502 if the message is refused, so that the repeat of the service sends the message', async () => {
    other.takes = async () => false;
    expect(await send(signed('msg_2'))).toBe(502);
    other.takes = takes;
    expect(await send(signed('msg_2'))).toBe(204);
    expect(other.taken).toHaveLength(1);
  });

  it('answers 401 to a notice that is unsigned, changed or old, and tells nobody', async () => {
    const changed = { ...notice, type: 'run.failed' };
    const old = signedAs(JSON.stringify(notice), { id: 'msg_3', at: Date.now() - 3_600_000 });
    expect([await send({}), await send(signed('msg_3'), changed), await send(old)]).toEqual([401, 401, 401]);
    expect(other.taken).toEqual([]);
  });
});
