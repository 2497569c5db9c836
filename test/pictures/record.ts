import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../host/server/free-port';
import { isAlive } from '../../host/server/process-probe';
import { sessionCommands, sessionPicture } from './session-commands';
import type { Typed } from './terminal-picture';
import { terminalPicture } from './terminal-picture';

// Runs the README's session and draws the picture: `npm run build && node dist/test/pictures/record.js`, from the repository's root.
const root = process.cwd();
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-picture-')));
const variables = Object.entries(process.env).filter(([name]) => !/_API_KEY$|^TEMPORAL_|^HOLDFAST_(?!TEMPORAL_CLI$)/.test(name));

async function main(): Promise<void> {
  for (const part of ['dist', 'examples']) symlinkSync(resolve(root, part), join(folder, part));
  // npx finds the command only in a package other than Holdfast.
  const { scripts } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')) as { scripts: { start: string } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, scripts: { start: scripts.start } }));
  mkdirSync(join(folder, 'node_modules', '.bin'), { recursive: true });
  symlinkSync(resolve(root, 'dist', 'cli', 'main.js'), join(folder, 'node_modules', '.bin', 'holdfast'));
  const port = await freePort();
  const session: Typed[] = [];
  for (const command of sessionCommands) {
    console.log(`$ ${command}`);
    const output = await type(command, port);
    if (command.endsWith('&')) await ready(port, output);
    session.push({ command, output: output().replaceAll(`${folder}/`, '').replaceAll(String(port), '4747') });
  }
  writeFileSync(resolve(root, sessionPicture), terminalPicture('A run waits for an approval, outlives kill -9 and goes on', session));
}

async function type(command: string, port: number): Promise<() => string> {
  const child = spawn('bash', ['-c', command], {
    cwd: folder,
    env: { ...Object.fromEntries(variables), NO_COLOR: '1', ...(command.startsWith('npm start') ? { HOLDFAST_PORT: String(port) } : {}) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let shown = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => void (shown += chunk.toString()));
  await once(child, command.endsWith('&') ? 'exit' : 'close');
  return () => shown;
}

async function ready(port: number, output: () => string): Promise<void> {
  const isUp = (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isUp()) || (output() !== '' && !output().includes('Try:'))) await delay(200);
}

async function stop(): Promise<void> {
  for (const name of readdirSync(join(folder, '.holdfast'))) {
    const [, pid] = /^service-(\d+)\.json$/.exec(name) ?? [];
    if (pid === undefined) continue;
    if (!isAlive(Number(pid))) continue;
    process.kill(Number(pid), 'SIGTERM');
    while (isAlive(Number(pid))) await delay(100);
  }
}

void main()
  .finally(stop)
  .finally(() => rmSync(folder, { recursive: true, force: true }));
