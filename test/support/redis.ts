import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '../../host/server/free-port';

export interface TestRedis {
  readonly url: string;
  signal(name: NodeJS.Signals): void;
  kill(): Promise<void>;
}

export async function startRedis(port?: number): Promise<TestRedis> {
  const at = port ?? (await freePort());
  const process: ChildProcess = spawn('redis-server', ['--port', String(at), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    process.once('error', reject);
    process.stdout?.on('data', (said: Buffer) => {
      if (/ready to accept connections/i.test(said.toString())) resolve();
    });
  });
  return {
    url: `redis://127.0.0.1:${at}`,
    signal: (name) => void process.kill(name),
    async kill() {
      if (process.exitCode !== null || process.signalCode !== null) return;
      const ended = once(process, 'exit');
      process.kill('SIGKILL');
      await ended;
    },
  };
}
