import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ServiceClient } from 'holdfast/http';
import { openOffice, ticketOf } from '../../examples/backoffice/open-office';
import type { Office } from '../../examples/backoffice/open-office';
import { eventually } from '../support/eventually';
import { decideByLink, settledNight } from '../support/office-night';

const root = join(__dirname, '..', '..');
const tickets = 200;
/** Every 25th order is large, and vouchers, every third wish, need no approval. */
const large = Array.from({ length: tickets }, (_, n) => n + 1).filter((n) => n % 25 === 0 && n % 3 !== 0);
const rejected = String(large[1]);

describe('the back office, on a provider that takes five requests at a time', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-office-'));
  const asked: string[] = [];
  let office: Office;
  let service: ServiceClient;
  beforeAll(async () => {
    const decide = async (lines: readonly string[]): Promise<void> => {
      asked.push(await decideByLink(lines, (order) => (order === rejected ? 'reject' : 'approve')));
    };
    office = await openOffice({ callMs: 50, atOnce: 5, tickets, onSlack: (lines) => void decide(lines) });
    service = new ServiceClient(office.service, { key: office.key });
  }, 120_000);
  afterAll(async () => {
    await office.close();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  it('settles 200 of 200 tickets, asks in Slack once for each large refund, pays each once, and the provider refuses nothing', async () => {
    expect(await settledNight(office)).toMatchObject({ lines: tickets, counts: { completed: tickets } });
    expect(asked.sort()).toEqual(large.map(String).sort());
    expect((await service.notices()).notices).toEqual([]);
    const { payments, mails } = office.outside;
    expect([payments.length, new Set(payments.map(({ key }) => key)).size, mails.length]).toEqual([tickets - 1, tickets - 1, tickets]);
    expect(office.model).toMatchObject({ answered: tickets * 4, refused: 0, mostAtOnce: 5 });
    expect((await service.view(`ticket-${rejected}`)).output).toBe(`Ticket ${rejected} is closed: refund refused.`);
  }, 600_000);

  it('lists once what became of each ticket, however often the list is read', async () => {
    const file = join(folder, 'results.jsonl');
    const read = async () => {
      expect(await office.run('results', file)).toEqual({ code: 0, text: '' });
      return readFileSync(file, 'utf8').trimEnd().split('\n');
    };
    const lines = await eventually(async () => await read().then((all) => (all.length >= tickets ? all : undefined)));
    expect(new Set(lines.map((line) => (JSON.parse(line) as { run: string }).run)).size).toBe(tickets);
    expect(await read()).toEqual(lines);
  }, 120_000);

  it('begins no run a second time when the night is settled again, or the shop sends a ticket of the night', async () => {
    expect(await settledNight(office)).toMatchObject({ lines: tickets, counts: { completed: tickets } });
    expect(await office.send(ticketOf(1))).toEqual({ run: 'ticket-1' });
    expect(office.outside.payments).toHaveLength(tickets - 1);
  }, 120_000);

  it('makes one run of a ticket that the shop sends twice, and keeps what is no ticket', async () => {
    expect(await office.send(ticketOf(201))).toEqual({ run: 'ticket-201' });
    expect(await office.send(ticketOf(201))).toEqual({ run: 'ticket-201' });
    const wrong = { ...ticketOf(202), wish: 'gold' };
    const { kept } = (await office.send(wrong)) as { kept: string };
    const problem = { code: 'trigger-failed', message: expect.stringContaining('wish') as string };
    expect((await service.deliveries('tickets')).deliveries).toEqual([expect.objectContaining({ id: kept, problem })]);
    expect((await office.command('agents')).text).toMatch(/^clerk\s+job \{ ticket, order, wish, text \}\s+Settles/m);
  });

  it('saves a run whose replay ends with 0', async () => {
    const file = join(folder, 'ticket.json');
    expect((await office.command('history', 'save', `ticket-${large[0]}`, '--output', file)).code).toBe(0);
    const config = join(root, 'examples', 'backoffice', 'holdfast.config.ts');
    const replayed = await office.command('replay', file, '--config', config, '--changes', 'requests');
    expect(replayed).toMatchObject({ code: 0, text: expect.stringMatching(/ticket\s+same/) as string });
  }, 120_000);
});

it('opens and settles a night with the commands of its page', async () => {
  const page = readFileSync(join(root, 'examples', 'backoffice', 'README.md'), 'utf8');
  const [, open = ''] = /^(npx jiti .*demo\.ts)$/m.exec(page) ?? [];
  const env = { ...process.env, HOLDFAST_DIR: join(tmpdir(), 'holdfast-no-office') };
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-page-'));
  const demo = spawn('bash', ['-c', `exec ${open} 50 5 3`], { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [demo.stdout, demo.stderr]) stream.on('data', (chunk: Buffer) => (text += String(chunk)));
  const told = (part: RegExp) => eventually(async () => part.exec(text) ?? undefined);
  try {
    const [opened] = await told(/\nOpen\.[\s\S]*Ctrl-C closes the office\./);
    const shown = opened.replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:…').replace(/hf_\w+/, 'hf_…');
    expect(page).toContain(`\`\`\`text\n${shown.trim()}\n\`\`\``);
    await told(/Slack:\n {2}clerk: run\.waiting\n {2}ticket-250\n {2}refund .*480.*\n {2}http.*\/decide\//);
    const commands = [...opened.matchAll(/^ {2}(.+)$/gm)].map(([, command = '']) =>
      command
        .replace('npx holdfast', `node ${join(root, 'dist', 'cli', 'main.js')}`)
        .replace('results.jsonl', join(folder, 'results.jsonl')),
    );
    const [names = '', settle = '', ...see] = commands;
    const run = async (...some: readonly string[]) =>
      (await promisify(execFile)('bash', ['-ec', [names, ...some].join('\n')], { cwd: root })).stdout;
    await run(settle);
    const seen = await eventually(async () => {
      const text = await run(...see, `cat ${join(folder, 'results.jsonl')}`);
      return (text.match(/is closed/g) ?? []).length === 3 ? text : undefined;
    });
    expect(seen).toMatch(/^night-.*3/m);
    expect(seen).toMatch(/ticket-250/);
  } finally {
    const closed = once(demo, 'close');
    process.kill(-(demo.pid as number), 'SIGTERM');
    await closed;
    rmSync(folder, { recursive: true, force: true });
  }
}, 300_000);

it('the tests of the example pass', async () => {
  const args = ['--import', 'jiti/register', '--test', join('examples', 'backoffice', 'office.test.ts')];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
  expect(stdout).toMatch(/pass 7\n.*fail 0/);
}, 120_000);
