import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import type { Ticket } from './jobs';
import { openModel } from './stand-ins/model';
import { openOutside } from './stand-ins/outside';
import type { OutsideOptions } from './stand-ins/outside';

export interface OfficeOptions extends Pick<OutsideOptions, 'onSlack'> {
  readonly callMs?: number;
  readonly atOnce?: number;
  readonly tickets?: number;
}

export type Office = Awaited<ReturnType<typeof openOffice>>;

const holdfast = join(dirname(require.resolve('holdfast/package.json')), 'dist', 'cli', 'main.js');
/** On Node 20, `--import jiti/register` breaks Express. */
const jiti = join(dirname(require.resolve('jiti/package.json')), 'lib', 'jiti-cli.mjs');
/** The office must not see foreign keys and settings. */
const foreign = /_API_KEY$|^TEMPORAL_|^HOLDFAST_(?!TEMPORAL_CLI$)|^OPENAI_|^npm_/;

type Printing = ChildProcessByStdio<null, Readable, null>;

const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

export function ticketOf(number: number): Ticket {
  const wish = number % 3 === 0 ? 'voucher' : 'refund';
  return { ticket: String(number), order: String(number), wish, text: `The parcel of order ${number} arrived broken.` };
}

type ShopTicket = Pick<Ticket, 'ticket'>;

/** Sends a ticket as the shop does: signed, and perhaps twice. */
async function send(ticket: ShopTicket, to: string, secret: string): Promise<unknown> {
  const [id, at, body] = [`msg_${ticket.ticket}`, new Date(), JSON.stringify(ticket)];
  const signature = new Webhook(secret).sign(id, at, body);
  const headers = { 'webhook-id': id, 'webhook-timestamp': String(Math.floor(at.getTime() / 1000)), 'webhook-signature': signature };
  return (await fetch(to, { method: 'POST', headers, body })).json();
}

/** Opens the stand-ins, the receiver of notices and `holdfast dev`. */
export async function openOffice({ callMs = 500, atOnce = 5, tickets = 200, onSlack }: OfficeOptions = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-backoffice-'));
  const model = await openModel({ callMs, atOnce });
  const nightly = Array.from({ length: tickets }, (_, at) => ticketOf(at + 1));
  const outside = await openOutside({ tickets: nightly, ...(onSlack === undefined ? {} : { onSlack }) });
  const secrets = { SHOP_SECRET: newSecret(), NOTICE_SECRET: newSecret() };
  const env: NodeJS.ProcessEnv = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name))),
    ...secrets,
    HOLDFAST_DIR: directory,
    SHOP_URL: outside.url,
    SLACK_URL: `${outside.url}/slack`,
    OPENAI_COMPATIBLE_BASE_URL: `${model.url}/v1`,
    OPENAI_COMPATIBLE_API_KEY: 'a-key-of-nobody',
    PORT: '0',
  };
  const children: Printing[] = [];
  const start = (...args: readonly string[]) => spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const open = async (child: Printing, word: string): Promise<string> => {
    children.push(child);
    return addressIn(child, word);
  };
  const close = async (): Promise<void> => {
    for (const child of children.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'close');
      child.kill('SIGTERM');
      await ended;
    }
    await Promise.all([model.close(), outside.close()]);
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    env['NOTICES_URL'] = await open(start(jiti, join(__dirname, 'notices', 'slack.ts')), 'notices');
    const config = ['--config', join(__dirname, 'holdfast.config.ts')];
    const key = (await printed(start(holdfast, 'keys', 'create', 'kim', '--roles', 'admin', ...config))).text.trim();
    env['HOLDFAST_KEY'] = key;
    const service = await open(start(holdfast, 'dev', '--no-watch', '--quiet', '--port', '0', ...config), 'service');
    env['HOLDFAST_URL'] = service;
    return {
      service,
      key,
      model: model.seen,
      outside,
      send: (ticket: ShopTicket) => send(ticket, `${service}/v1/triggers/tickets`, secrets.SHOP_SECRET),
      run: (program: string, ...args: readonly string[]) => printed(start(jiti, join(__dirname, `${program}.ts`), ...args)),
      command: (...args: readonly string[]) => printed(start(holdfast, ...args)),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Returns the address after a word, as in `service  http://…`. */
function addressIn(child: Printing, word: string): Promise<string> {
  let said = '';
  return new Promise((found, failed) => {
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      const [, address] = new RegExp(`${word}\\s+(http\\S+)`).exec(said) ?? [];
      if (address !== undefined) found(address);
    });
    child.once('exit', () => failed(new Error(`The process has ended before it said its ${word}:\n${said}`)));
  });
}

async function printed(child: Printing) {
  const closed = once(child, 'close') as Promise<[number | null]>;
  return { text: await text(child.stdout), code: (await closed)[0] };
}
