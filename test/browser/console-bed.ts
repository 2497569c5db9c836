import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(__dirname, '..', '..');

export interface ConsoleBed {
  readonly url: string;
  readonly console: string;
  readonly pid: number;
  readonly directory: string;
  /** Ends the process as a crash does, and keeps the data. */
  kill(): Promise<void>;
  /** Starts on the same port. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export async function openConsole(config = 'examples/support/holdfast.config.ts'): Promise<ConsoleBed> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-console-'));
  let port = '0';
  let process: ChildProcess;
  let said = { url: '', console: '' };
  const start = async (): Promise<void> => {
    process = spawn(
      globalThis.process.execPath,
      [join(root, 'dist/cli/main.js'), 'dev', '--no-watch', '--port', port, '--config', config],
      {
        cwd: root,
        env: { ...globalThis.process.env, HOLDFAST_DIR: directory, NO_COLOR: '1' },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    said = await ready(process);
    port = new URL(said.url).port;
  };
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    const ended = once(process, 'close');
    process.kill(signal);
    await ended;
  };
  await start();
  return {
    get url() {
      return said.url;
    },
    get console() {
      return said.console;
    },
    get pid() {
      return process.pid ?? 0;
    },
    directory,
    kill: () => end('SIGKILL'),
    start,
    async close() {
      if (process.exitCode === null && process.signalCode === null) await end('SIGTERM');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function ready(process: ChildProcess): Promise<{ readonly url: string; readonly console: string }> {
  let text = '';
  return new Promise((found, failed) => {
    const hear = (chunk: Buffer): void => {
      text += chunk.toString();
      const [, url] = /service\s+(http\S+)/.exec(text) ?? [];
      const [, address] = /console\s+(http\S+)/.exec(text) ?? [];
      if (url !== undefined && address !== undefined && text.includes('Try:')) found({ url, console: address });
    };
    process.stdout?.on('data', hear);
    process.stderr?.on('data', hear);
    process.once('exit', () => failed(new Error(`holdfast dev has ended:\n${text}`)));
  });
}
