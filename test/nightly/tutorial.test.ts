import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../host/server/free-port';
import type { Step } from '../support/document-steps';
import { notShown, stepsOf } from '../support/document-steps';
import { pack } from '../product/package-bed';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-tutorial-')));

const versions: Record<string, string> = { zod: '4.6.7', typescript: '5.9.3', '@types/node': '20.19.43', jiti: '2.7.0' };

interface Terminal {
  readonly process: ChildProcess;
  readonly ended: Promise<number | null>;
  output: string;
}

describe('docs/tutorial.md', () => {
  const terminals = new Map<string, Terminal>();
  const keys = /_API_KEY$|^TEMPORAL_|^HOLDFAST_(?!TEMPORAL_CLI$)|^OPENAI_COMPATIBLE_/;
  const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !keys.test(name)));
  const placeFile = join(folder, 'place');
  let packed: string;
  let port: number;

  beforeAll(async () => {
    [packed, port] = await Promise.all([pack(folder), freePort()]);
    writeFileSync(placeFile, folder);
  }, 60_000);
  afterAll(async () => {
    for (const { process: child, ended } of terminals.values()) {
      if (child.exitCode === null && child.signalCode === null) press(child, 'SIGTERM');
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  function type(terminal: string, text: string): Terminal {
    const commands = text.replace(/^npm install (.*)$/gm, (_, names: string) => `npm install ${installed(names)}`);
    const child = spawn('bash', ['-ec', `cd "$(cat "${placeFile}")"\ntrap 'pwd > "${placeFile}"' EXIT\n${commands}`], {
      env: { ...environment, NO_COLOR: '1', ...(terminal === 'terminal-1' ? { HOLDFAST_PORT: String(port) } : {}) },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const typed: Terminal = { process: child, output: '', ended: once(child, 'close').then(() => child.exitCode) };
    const show = (chunk: Buffer): void => void (typed.output += chunk.toString().replaceAll(`:${port}`, ':4747'));
    child.stdout.on('data', show);
    child.stderr.on('data', show);
    terminals.set(terminal, typed);
    return typed;
  }

  function installed(names: string): string {
    const exact = names.split(' ').map((name) => (name === 'holdfast' ? packed : `${name}@${versions[name] ?? 'not tested'}`));
    return ['--no-audit', '--no-fund', '--prefer-offline', ...exact].join(' ');
  }

  async function take(step: Step): Promise<void> {
    if (step.kind === 'file') return writeFileSync(join(readFileSync(placeFile, 'utf8').trim(), step.name), step.text);
    const before = terminals.get(step.terminal);
    if (step.kind === 'shown') {
      if (before === undefined) throw new Error(`Nothing was typed in ${step.terminal} yet.`);
      return seen(before, step.text);
    }
    await before?.ended;
    const typed = type(step.terminal, step.text);
    if (step.terminal === 'terminal-1') return;
    const exit = await typed.ended;
    if (exit !== step.exit) throw new Error(`Ended with ${exit}, not with ${step.exit}:\n${step.text}\n${typed.output}`);
  }

  it.each(stepsOf('docs/tutorial.md').filter(({ steps }) => steps.length > 0))(
    'does in "$heading" what it says',
    async ({ steps }) => {
      for (const step of steps) await take(step);
    },
    180_000,
  );

  it('ends with Ctrl-C', async () => {
    const { process: child, ended } = terminals.get('terminal-1')!;
    press(child, 'SIGINT');
    await ended;
  });
});

function press(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid !== undefined) process.kill(-child.pid, signal);
}

async function seen(terminal: Terminal, text: string): Promise<void> {
  const { process: child, ended } = terminal;
  for (;;) {
    const missing = notShown(text, terminal.output);
    if (missing === undefined) return;
    if (child.exitCode !== null || child.signalCode !== null) {
      await ended;
      if (notShown(text, terminal.output) === undefined) return;
      throw new Error(`The page says that the terminal shows\n${missing}\nIt shows\n${terminal.output}`);
    }
    await Promise.race([once(child.stdout!, 'data'), ended]);
  }
}
