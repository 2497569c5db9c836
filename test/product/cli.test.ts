import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { recordService, recordedService, takeDeadWorkers } from '../../cli/processes/service-record';
import { dropThread } from '../../worker/threads/spare-thread';
import { eventually } from '../support/eventually';
import type { Command, Ended } from './command';
import { commandsIn, serviceOf } from './command';
import { commandLinesIn } from './command-line';

const config = resolve(__dirname, '..', '..', 'examples', 'support', 'holdfast.config.ts');
const directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-cli-')));
const starts = commandsIn(directory);
const started: Command[] = [];
const start: typeof starts = (...asked) => {
  const command = starts(...asked);
  started.push(command);
  return command;
};
const run = commandLinesIn(directory);
const holdfast = (...args: readonly string[]): Promise<Ended> => run(args).ended;

let dev: Command;
beforeAll(async () => {
  dev = start(['dev', '--config', config, '--port', '0']);
  await dev.seen('Try:');
}, 120_000);
afterAll(async () => {
  // Processes of failed tests too.
  for (const { process } of started) process.kill('SIGTERM');
  await Promise.all(started.map(({ ended }) => ended));
  await dropThread();
  rmSync(directory, { recursive: true, force: true });
});

function listed(what: RegExp, ...args: readonly string[]): Promise<string> {
  return eventually(async () => {
    const { out } = await holdfast(...args);
    return what.test(out) ? out : undefined;
  });
}

function haveBundles(place: string): void {
  cpSync(join(directory, 'bundles'), join(place, 'bundles'), { recursive: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('holdfast dev', () => {
  it('says what it serves, with which model, and what to try', async () => {
    const out = await dev.seen('Try:');
    expect(out).toMatch(/service +http:\/\/127\.0\.0\.1:\d+/);
    expect(out).toMatch(/temporal +127\.0\.0\.1:\d+ \(embedded/);
    expect(out).toMatch(/agents +.*support/);
    expect(out).toContain('default → demo/rules');
    expect(out).toContain('npx holdfast run support "Refund order 42, it arrived broken"');
    expect(await dev.complained('')).toBe('');
  });

  it('refuses a port that is taken, before it starts anything', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((listening) => taken.once('listening', listening));
    const { port } = taken.address() as { port: number };
    const elsewhere = join(directory, 'elsewhere');
    const { code, error } = await start(['dev', '--config', config, '--port', String(port)], { HOLDFAST_DIR: elsewhere }).ended;
    await new Promise((closed) => taken.close(closed));
    expect(code).toBe(1);
    expect(error).toContain('error port-in-use:');
    expect(error).toContain('fix: ');
    expect(existsSync(elsewhere)).toBe(false);
  });

  it('says when there is no configuration', async () => {
    expect(await holdfast('dev')).toMatchObject({ code: 1, error: expect.stringMatching(/^error config-not-found: .*\nfix: /) });
  });
});

describe('two holdfast dev in one directory', () => {
  it('end together when the one is killed that has the server', async () => {
    const place = join(directory, 'shared');
    haveBundles(place);
    const first = start(['dev', '--config', config, '--port', '0'], { HOLDFAST_DIR: place });
    await first.seen('Try:');
    const second = start(['dev', '--config', config, '--port', '0'], { HOLDFAST_DIR: place });
    const url = await serviceOf(second);
    expect(recordedService(place)).toBe(url);
    first.process.kill('SIGKILL');
    const ended = await second.ended;
    expect(ended).toMatchObject({ code: 1, error: expect.stringMatching(/^error server-unreachable: .* is gone.*\nfix: /) });
    expect(recordedService(place)).toBeUndefined();
    // The next service reads the killed service's open work.
    expect(readdirSync(place).filter((name) => name.startsWith('service'))).toEqual([`service-${first.process.pid}.json`]);
    expect(takeDeadWorkers(place)).toEqual([expect.stringMatching(`^${first.process.pid}-`)]);
    expect(takeDeadWorkers(place)).toEqual([]);
  });

  it('do not take the runs of each other when they serve different agents', async () => {
    const office = resolve(__dirname, '..', '..', 'examples', 'office', 'holdfast.config.ts');
    const { code, error } = await start(['dev', '--config', office, '--port', '0']).ended;
    expect(code).toBe(1);
    expect(error).toMatch(
      new RegExp(`^error queue-in-use: The process ${dev.process.pid} serves .*support.* on the task queue "holdfast"`),
    );
    expect(error).toContain('HOLDFAST_TASK_QUEUE');
  });

  it('are found by commands, the newest that lives first', () => {
    const place = join(directory, 'records');
    mkdirSync(place);
    const leave = (pid: number, url: string): void =>
      writeFileSync(join(place, `service-${pid}.json`), JSON.stringify({ pid, mark: `${pid}-1`, url, startedAt: 1 }));
    const dead = spawnSync(process.execPath, ['--version']).pid;
    leave(dead, 'dead');
    expect(recordedService(place)).toBeUndefined();
    expect(existsSync(join(place, `service-${dead}.json`))).toBe(false);
    leave(process.ppid, 'older');
    const forget = recordService(place, 'newer');
    expect(recordedService(place)).toBe('newer');
    forget();
    expect(recordedService(place)).toBe('older');
  });
});

describe('the commands', () => {
  it('runs an agent up to the approval, and on after it', async () => {
    const waiting = await start(['run', 'support', 'Refund order 42, it arrived broken', '--id', 'ticket-1']).ended;
    expect(waiting.code).toBe(2);
    expect(waiting.out).not.toContain('\u001b');
    expect(waiting.out).toContain('→ lookupOrder {"orderId":"42"}');
    expect(waiting.out).toContain('? refund needs an approval');
    expect(waiting.out).toContain('"amount": 80');
    const [, command] = /npx (holdfast approve ticket-1 \S+)/.exec(waiting.out) ?? [];
    const approved = await holdfast(...(command ?? '').split(' ').slice(1), '--by', 'ada');
    expect(approved).toMatchObject({ code: 0, error: '' });
    expect(approved.out).toContain('answered by ada');
    expect(approved.out).toContain('← refund {"paid":80');
    expect(approved.out).toMatch(/demo\/rules · \d+ tokens in, \d+ out · run ticket-1/);
  });

  it('approves the only one that waits, with other arguments, and rejects with a reason', async () => {
    await holdfast('run', 'support', 'Refund order 42', '--id', 'ticket-2');
    expect((await holdfast('approve', 'ticket-2', '--edit', '{"orderId":"42","amount":60}')).out).toContain('"paid":60');
    await holdfast('run', 'support', 'Refund order 42', '--id', 'ticket-3');
    const rejected = await holdfast('reject', 'ticket-3', '--feedback', 'Not broken.');
    expect(rejected).toMatchObject({ code: 0 });
    expect(rejected.out).toContain('Not broken.');
    expect(await holdfast('approve', 'ticket-3')).toMatchObject({ code: 1, error: expect.stringContaining('error run-ended:') });
  });

  it('shows commands that can be pasted, also from elsewhere', async () => {
    const url = await serviceOf(dev);
    const elsewhere = run(['run', 'support', 'Refund order 42', '--id', 'ticket-6', '--by', "ada o'hara"], { HOLDFAST_URL: url });
    expect((await elsewhere.ended).out).toContain(
      `npx holdfast approve ticket-6 support.t2.refund-0.approval.1 --by 'ada o'\\''hara' --url ${url}`,
    );
    expect((await holdfast('run', 'support', 'Hi', '--id', 'ticket-7', '--detach')).out).toContain('npx holdfast events ticket-7 --follow');
    expect(await holdfast('events', 'ticket-6', '--from', '999')).toMatchObject({
      code: 1,
      error: expect.stringContaining('request-invalid'),
    });
  });

  it('finds the run that has this id', async () => {
    await holdfast('run', 'support', 'Where is my order 43?', '--id', 'ticket-4');
    const again = await holdfast('run', 'support', 'Where is my order 43?', '--id', 'ticket-4');
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining('found run ticket-4') });
  });

  it('starts a run with tags, settings, values and a deadline', async () => {
    const flags = [
      '--tag',
      'urgent',
      '--tag',
      'refunds',
      '--settings',
      '{"temperature":0}',
      '--values',
      '{"team":"blue"}',
      '--deadline',
      '10s',
    ];
    expect(await holdfast('run', 'support', 'Refund order 42', '--id', 'ticket-8', ...flags)).toMatchObject({ code: 2, error: '' });
    const url = await serviceOf(dev);
    await listed(/ticket-8 +support/, 'list', '--tag', 'urgent', '--tag', 'refunds', '--since', '1h');
    const { runs } = (await (await fetch(`${url}/runs?agent=support`)).json()) as { runs: { id: string; tags: string[] }[] };
    expect(runs.find(({ id }) => id === 'ticket-8')?.tags).toEqual(['urgent', 'refunds']);
    expect((await holdfast('list', '--tag', 'nobody')).out.trim()).toBe('There are no such runs.');
  });

  it('lists, shows, prints events and cancels', async () => {
    await holdfast('run', 'support', 'Refund order 42', '--id', 'ticket-5');
    await listed(/ticket-5 +support +waiting .*approval of refund/, 'list', '--status', 'waiting');
    expect((await holdfast('inbox')).out).toMatch(/^RUN +AGENT +WAITS +UNTIL +FOR +ASKS\n/);
    expect((await holdfast('inbox', '--limit', '1000')).out).toMatch(/ticket-5 +support +\d+ (?:s|min) +.*refund \{/);
    expect((await holdfast('inbox', '--wide', '--limit', '1000')).out).toContain('npx holdfast approve ticket-5');
    const page = (await holdfast('list', '--limit', '1')).out;
    expect(page).toMatch(
      /^RUN +AGENT +STATUS +STARTED +WAITS FOR\nticket-5 +support +waiting +(?:now|\d+ s ago) +approval of refund.*\n1 of \d+ runs are shown\.\n/,
    );
    const [, next = ''] = /^more: npx holdfast list --limit 1 --after (\S+)/m.exec(page) ?? [];
    expect((await holdfast('list', '--limit', '1', '--after', next)).out).not.toContain('ticket-5');
    expect(await holdfast('list', '--status', 'waiting', '--after', next)).toMatchObject({
      code: 1,
      error: expect.stringContaining('error request-invalid: list: after is of a list with other filters.'),
    });
    const shown = (await holdfast('show', 'ticket-5')).out;
    expect(shown).toMatch(
      /status +waiting\ninput +Refund order 42\nbegan +20.* UTC \(.*\)\nduration +\d.* so far\nbuild +\S+\ntokens +\d+ in/,
    );
    expect(shown).toMatch(/\+.* asks +support\.t2\.refund-0\.approval\.1 +\d.* so far\n/);
    expect(shown).toMatch(/\nuser +Refund order 42\n/);
    const events = (await holdfast('events', 'ticket-5', '--json', '--from', '1')).out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { offset: number });
    expect(events.map(({ offset }) => offset)).toEqual(events.map((_, index) => index + 1));
    expect((await holdfast('events', 'ticket-5')).out).toMatch(/^ +0  20.* run-start +support: Refund order 42\n/);
    const following = run(['events', 'ticket-5', '--json', '--follow']);
    await following.seen('interrupt-start');
    expect(await holdfast('cancel', 'ticket-5')).toMatchObject({ code: 0 });
    expect((await following.ended).out).toContain('"status":"cancelled"');
    expect((await holdfast('agents', '--json')).out).toContain('"name": "support"');
  });

  it('shows the end of a run whose deadline passes', async () => {
    expect((await holdfast('events', 'ticket-8', '--follow')).out).toMatch(/run-end +failed: run-timed-out: /);
  });

  const failures: readonly (readonly [string, readonly string[], string, Record<string, string>])[] = [
    ['an agent that there is not', ['run', 'suport', 'Hello'], 'agent-unknown', {}],
    ['a run that there is not', ['show', 'nobody'], 'run-unknown', {}],
    ['moving a run that there is not', ['upgrade', 'nobody'], 'run-unknown', {}],
    ['JSON that is none', ['run', 'orders', '{', '--json-input'], 'request-invalid', {}],
    ['options that are none', ['run', 'support', 'Hi', '--options', '{"tool":[]}'], 'options-invalid', {}],
    ['settings that are none', ['run', 'support', 'Hi', '--settings', '{"temperature":"hot"}'], 'request-invalid', {}],
    ['a deadline that is none', ['run', 'support', 'Hi', '--deadline', 'soon'], 'command-invalid', {}],
    ['a command that there is not', ['rnu'], 'command-invalid', {}],
    ['help for a command that there is not', ['help', 'rnu'], 'command-invalid', {}],
    ['a run without an id', ['show', ''], 'run-id-invalid', {}],
    ['an id that would be another address', ['show', '..'], 'run-id-invalid', {}],
    ['an interrupt without an id', ['approve', 'nobody', ''], 'run-unknown', {}],
    ['somebody without a name', ['run', 'support', 'Hi', '--by', ' '], 'command-invalid', {}],
    ['an agent without a name', ['list', '--agent', ''], 'command-invalid', {}],
    ['an offset that is none', ['events', 'nobody', '--from', '1e3'], 'request-invalid', {}],
    ['a port that is none', ['dev', '--config', config, '--port', 'x'], 'command-invalid', {}],
    ['an address with a password', ['list', '--url', 'http://ada:secret@127.0.0.1'], 'command-invalid', {}],
    ['no service', ['list', '--url', 'http://127.0.0.1:9'], 'service-unreachable', {}],
    ['an address that is none', ['list', '--url', 'localhost'], 'command-invalid', {}],
    ['a worker without a server', ['worker', '--config', config], 'server-unreachable', { HOLDFAST_DIR: join(directory, 'nowhere') }],
  ];
  it.each(failures)('says in two lines what is wrong with %s', async (_, args, code, variables) => {
    const { code: exit, error } = await run(args, variables).ended;
    expect(exit).toBe(1);
    expect(error).toMatch(new RegExp(`^error ${code}: .+\\nfix: .+\\n$`));
  });
});

describe('holdfast dev that gets SIGTERM', () => {
  it('leaves no process behind, and the exit code 0', async () => {
    const { pid } = JSON.parse(readFileSync(join(directory, 'server.json'), 'utf8')) as { pid: number };
    expect(isAlive(pid)).toBe(true);
    dev.process.kill('SIGTERM');
    const { code, error } = await dev.ended;
    const isOfRun = (line: string): boolean => / info {2}run ticket-\d /.test(line);
    expect({ code, error: error.split('\n').filter((line) => line !== '' && !isOfRun(line)) }).toEqual({ code: 0, error: [] });
    expect(isAlive(pid)).toBe(false);
    expect(readdirSync(directory).filter((name) => name.startsWith('service'))).toEqual([]);
  });
});
