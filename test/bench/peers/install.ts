import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The source folder: packages of the peers are not part of the build. */
export const folder = join(__dirname, '..', '..', '..', '..', 'test', 'bench', 'peers');

const modules = join(folder, 'node_modules');

/** Mastra refuses Node 20. */
export const nodeOfPeers = join(modules, 'node', 'bin', 'node');

/** Installs on first use and after changes of version. */
export function installPeers(): void {
  const installed = readVersions(join(modules, '.package-lock.json'));
  const wanted = readVersions(join(folder, 'package-lock.json'));
  if (existsSync(nodeOfPeers) && [...wanted].every(([name, version]) => installed.get(name) === version)) return;
  console.error('Installing the peers in test/bench/peers; some minutes, and 0.7 GB.');
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--prefix', folder], { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error('npm ci --prefix test/bench/peers failed.');
}

export function versionsOfPeers(): Readonly<Record<string, string>> {
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
  return dependencies;
}

function readVersions(file: string): Map<string, string> {
  if (!existsSync(file)) return new Map();
  const { packages } = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, { version?: string; optional?: boolean }> };
  const entries = Object.entries(packages).filter(([name, { optional }]) => name !== '' && optional !== true);
  return new Map(entries.map(([name, { version }]) => [name, version ?? '']));
}
