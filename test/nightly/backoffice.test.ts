import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type * as Opening from '../../examples/backoffice/open-office';

const root = join(__dirname, '..', '..');
// The processes run the compiled files.
// eslint-disable-next-line @typescript-eslint/no-require-imports -- what is compiled has no place among the sources
const { openOffice } = require(join(root, 'dist', 'examples', 'backoffice', 'open-office.js')) as typeof Opening;
type Office = Awaited<ReturnType<typeof openOffice>>;

const tickets = 200;
/** Every 25th order is large, and vouchers, every third wish, need no approval. */
const large = Array.from({ length: tickets }, (_, n) => n + 1).filter((n) => n % 25 === 0 && n % 3 !== 0);
const night = '2026-11-23';

interface Waiting {
  readonly run: string;
  readonly interrupt: string;
  readonly input: { readonly order: string };
}

const asked = async <T>(url: string, method = 'GET', body?: object): Promise<T> => {
  const init = body === undefined ? { method } : { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  return (await (await fetch(url, init)).json()) as T;
};

describe('the back office, on a provider that takes five requests at a time', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-office-'));
  let office: Office;
  beforeAll(async () => {
    office = await openOffice({ callMs: 50, atOnce: 5 });
  }, 120_000);
  afterAll(async () => {
    await office.close();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  it('settles 200 of 200 tickets, pays each once, and the provider refuses nothing', async () => {
    const batch = office.run('night', office.office, night, String(tickets));
    const decided = new Set<string>();
    while (decided.size < large.length) {
      const { waiting } = await asked<{ waiting: readonly Waiting[] }>(`${office.office}/inbox`);
      for (const { run, interrupt, input } of waiting) {
        if (decided.has(run)) continue;
        decided.add(run);
        await asked(`${office.office}/inbox/${run}/${interrupt}`, 'POST', { approved: input.order !== String(large[1]), by: 'ada' });
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    const { code, text } = await batch;
    expect({ code, last: text.trimEnd().split('\n').at(-1) }).toEqual({ code: 0, last: `settled ${tickets} of ${tickets}` });
    const paid = await asked<{ payments: number; keys: number; mails: number }>(`${office.bank}/report`);
    expect(paid).toMatchObject({ payments: tickets - 1, keys: tickets - 1, mails: tickets });
    const model = await asked<{ answered: number; refused: number; mostAtOnce: number }>(office.model.replace('/v1', '/report'));
    expect(model).toMatchObject({ answered: tickets * 4, refused: 0, mostAtOnce: 5 });
    expect(await asked(`${office.office}/nights/${night}`)).toMatchObject({ closed: tickets, counts: { completed: tickets } });
    const rejected = await asked<{ results: readonly string[] }>(`${office.office}/tickets/${night}-${large[1]}`);
    expect(rejected.results).toEqual(['refund refused']);
  }, 600_000);

  it('begins no run a second time when the batch of the night is started again', async () => {
    const before = await asked<{ payments: number }>(`${office.bank}/report`);
    expect((await office.run('night', office.office, night, String(tickets))).code).toBe(0);
    expect(await asked(`${office.bank}/report`)).toEqual(before);
  }, 120_000);

  it('refuses what is no ticket, in Express and in Holdfast', async () => {
    const job = { ticket: 't', order: '1', wish: 'gold', text: '' };
    expect(await asked(`${office.office}/tickets`, 'POST', job)).toEqual({ error: expect.stringContaining('wish: ') as string });
    expect(await asked(`${office.holdfast}/runs`, 'POST', { agent: 'clerk', input: job })).toMatchObject({
      error: { code: 'input-invalid', message: expect.stringContaining('wish is none of ["refund","voucher"]') as string },
    });
    expect((await office.command('agents', '--url', office.holdfast)).text).toMatch(
      /^clerk\s+job \{ ticket, order, wish, text \}\s+Settles/m,
    );
  });

  it('saves a run whose replay ends with 0', async () => {
    const file = join(folder, 'ticket.json');
    expect((await office.command('history', 'save', `ticket-${night}-${large[0]}`, '--output', file)).code).toBe(0);
    const config = join(root, 'examples', 'backoffice', 'holdfast.config.ts');
    const replayed = await office.command('replay', file, '--config', config, '--changes', 'requests');
    expect(replayed).toMatchObject({ code: 0, text: expect.stringMatching(/ticket\s+same/) as string });
  }, 120_000);
});

it('opens and settles a night with the commands of its page', async () => {
  const page = readFileSync(join(root, 'examples', 'backoffice', 'README.md'), 'utf8');
  const [, open = ''] = /^(npx jiti .*demo\.ts)$/m.exec(page) ?? [];
  const env = { ...process.env, HOLDFAST_DIR: join(tmpdir(), 'holdfast-no-office') };
  const begin = (command: string) => {
    const [program = '', ...args] = command.replace(/^npx /, 'npx --no-install ').split(' ');
    return spawn(program, args, { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  };
  const demo = begin(open);
  try {
    let text = '';
    demo.stderr.resume();
    for await (const chunk of demo.stdout) if ((text += String(chunk)).includes('Ctrl-C')) break;
    const told = text.replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:…').trim();
    expect(page).toContain(`\`\`\`text\n${told}\n\`\`\``);
    const [, settle = ''] = /^ {2}(npx jiti .*night\.ts .*) 200$/m.exec(text) ?? [];
    const batch = begin(`${settle} 3`);
    let settled = '';
    for (const stream of [batch.stdout, batch.stderr]) stream.on('data', (chunk: Buffer) => (settled += String(chunk)));
    await once(batch, 'close');
    expect(settled.trimEnd().split('\n').at(-1)).toBe('settled 3 of 3');
    const [, list = ''] = /^ {2}(npx holdfast list .*)$/m.exec(text) ?? [];
    const args = [join(root, 'dist', 'cli', 'main.js'), ...list.split(' ').slice(2)];
    expect((await promisify(execFile)(process.execPath, args, { cwd: root })).stdout.match(/ticket-2026-11-23-\d/g)).toHaveLength(3);
  } finally {
    const closed = once(demo, 'close');
    process.kill(-(demo.pid as number), 'SIGTERM');
    await closed;
  }
}, 300_000);

it('the tests of the example pass', async () => {
  const args = ['--import', 'jiti/register', '--test', join('examples', 'backoffice', 'office.test.ts')];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
  expect(stdout).toMatch(/pass 7\n.*fail 0/);
}, 120_000);
