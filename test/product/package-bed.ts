import type { ChildProcess } from 'node:child_process';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

export const run = promisify(execFile);
const root = resolve(__dirname, '..', '..');

export async function pack(folder: string): Promise<string> {
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], { cwd: root });
  const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [{ filename: string }];
  return join(folder, filename);
}

export const loader = 'jiti@2.7.0';

export const client: { readonly command: readonly [string, ...string[]]; readonly packages: readonly string[] } =
  (process.features as { typescript?: unknown }).typescript !== undefined
    ? { command: ['node', 'client.ts'], packages: [] }
    : { command: ['npx', '--no-install', 'jiti', 'client.ts'], packages: [loader] };

const guide = join(root, 'docs/guides/own-project.md');

export function filesOfGuide(): Readonly<Record<string, string>> {
  const blocks = [...readFileSync(guide, 'utf8').matchAll(/```ts\n\/\/ (\S+\.ts)\n([\s\S]*?)```/g)];
  return Object.fromEntries(blocks.map(([, name, code]) => [name ?? '', code ?? '']));
}

export function tsconfigOfGuide(): object {
  const [, tsconfig = ''] = /```json\n(\{ "compilerOptions".*)\n```/.exec(readFileSync(guide, 'utf8')) ?? [];
  return JSON.parse(tsconfig) as object;
}

export async function ready(service: ChildProcess, url: string): Promise<void> {
  let output = '';
  const collect = (chunk: Buffer): void => void (output += chunk.toString());
  service.stdout?.on('data', collect);
  service.stderr?.on('data', collect);
  for (;;) {
    if (service.exitCode !== null) throw new Error(`holdfast dev ended with ${service.exitCode}:\n${output}`);
    const up = await fetch(`${url}/health`).then(
      (response) => response.ok,
      () => false,
    );
    if (up) return;
    await once(service.stdout ?? service, 'data');
  }
}
