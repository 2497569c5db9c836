import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface Office {
  /** The shop's back end. */
  readonly office: string;
  readonly bank: string;
  readonly model: string;
  readonly holdfast: string;
  /** The directory of `holdfast dev`. */
  readonly directory: string;
  run(program: string, ...args: readonly string[]): Promise<Printed>;
  command(...args: readonly string[]): Promise<Printed>;
  close(): Promise<void>;
}

export interface Printed {
  readonly code: number | null;
  readonly text: string;
}

export interface OfficeOptions {
  readonly callMs?: number;
  readonly atOnce?: number;
  readonly onText?: (text: string) => void;
}

const holdfast = join(dirname(require.resolve('holdfast/package.json')), 'dist', 'cli', 'main.js');
/** Compiled to `dist`, or run by jiti. */
const isCompiled = __filename.endsWith('.js');
/** On Node 20, `--import jiti/register` breaks Express. */
const runner = (): readonly string[] => (isCompiled ? [] : [join(dirname(require.resolve('jiti/package.json')), 'lib', 'jiti-cli.mjs')]);

function startProgram(program: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const file = join(__dirname, `${program}.${isCompiled ? 'js' : 'ts'}`);
  return spawn(process.execPath, [...runner(), file, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Returns the address after a word, as in `bank  http://…`. */
async function addressIn(child: ChildProcess, word: string, onText: (text: string) => void): Promise<string> {
  let text = '';
  return new Promise((found, failed) => {
    const hear = (chunk: Buffer): void => {
      onText(chunk.toString());
      text += chunk.toString();
      const [, address] = new RegExp(`${word}\\s+(http\\S+)`).exec(text) ?? [];
      if (address !== undefined) found(address);
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.once('exit', () => failed(new Error(`The process has ended before it said its ${word}:\n${text}`)));
  });
}

async function printed(child: ChildProcess, onText: (text: string) => void): Promise<Printed> {
  let text = '';
  const hear = (chunk: Buffer): void => {
    onText(chunk.toString());
    text += chunk.toString();
  };
  child.stdout?.on('data', hear);
  child.stderr?.on('data', hear);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, text };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** The office must not see foreign keys and settings. */
const foreign = /_API_KEY$|^TEMPORAL_|^HOLDFAST_(?!TEMPORAL_CLI$)|^OPENAI_|^npm_/;

export async function openOffice({ callMs = 500, atOnce = 5, onText = () => undefined }: OfficeOptions = {}): Promise<Office> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-backoffice-'));
  const own = Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
  const children: ChildProcess[] = [];
  const opened = async (child: ChildProcess, word: string): Promise<string> => {
    children.push(child);
    return addressIn(child, word, onText);
  };
  const close = async (): Promise<void> => {
    // In reverse: earlier processes serve later processes.
    for (const child of children.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'close');
      child.kill('SIGTERM');
      await ended;
    }
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    onText('The stand-ins for the bank and the model start, and then Holdfast.\n');
    const bank = await opened(startProgram('stand-ins/bank', [], { ...own, PORT: '0' }), 'bank');
    const model = await opened(startProgram('stand-ins/model', [String(callMs), String(atOnce)], { ...own, PORT: '0' }), 'model');
    const officePort = await freePort();
    const env = {
      ...own,
      HOLDFAST_DIR: directory,
      BANK_URL: bank,
      OFFICE_URL: `http://127.0.0.1:${officePort}`,
      OPENAI_COMPATIBLE_BASE_URL: model,
      OPENAI_COMPATIBLE_API_KEY: 'a-key-of-nobody',
    };
    const config = ['--config', join(__dirname, isCompiled ? '../../../examples/backoffice' : '.', 'holdfast.config.ts')];
    const dev = spawn(process.execPath, [holdfast, 'dev', '--no-watch', '--quiet', '--port', '0', ...config], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const service = await opened(dev, 'service');
    onText('The back end of the shop starts.\n');
    const office = await opened(startProgram('server', [], { ...env, PORT: String(officePort) }), 'office');
    return {
      office,
      bank,
      model,
      holdfast: service,
      directory,
      run: (program, ...args) => printed(startProgram(program, args, env), onText),
      command: (...args) => printed(spawn(process.execPath, [holdfast, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] }), onText),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
