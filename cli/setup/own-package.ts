import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, relative, resolve } from 'node:path';
import { isRecord } from '../../contract/check';

/** This very package, found by its own name: from sources and from dist alike. */
export function ownFolder(): string {
  return dirname(require.resolve('holdfast/package.json'));
}

/** How a project in a directory depends on this package: by its version, or by the file that npm has installed it from. */
export function ownSpec(directory: string, folder = ownFolder()): string {
  const { version } = JSON.parse(readFileSync(resolve(folder, 'package.json'), 'utf8')) as { readonly version: string };
  const file = installedFrom(folder);
  if (file === undefined) return version;
  const way = relative(directory, file).replaceAll('\\', '/');
  return `file:${way}`;
}

/** The packed file, as npm has noted it beside what it installed. Nothing, where the package came from a registry, or npm has not installed it. */
function installedFrom(folder: string): string | undefined {
  const modules = dirname(folder);
  try {
    const lock: unknown = JSON.parse(readFileSync(resolve(modules, '.package-lock.json'), 'utf8'));
    const packages = isRecord(lock) && isRecord(lock['packages']) ? lock['packages'] : {};
    const noted = packages[`node_modules/${basename(folder)}`];
    const resolved = isRecord(noted) ? noted['resolved'] : undefined;
    if (typeof resolved !== 'string' || !resolved.startsWith('file:')) return undefined;
    const file = resolve(dirname(modules), resolved.slice('file:'.length));
    return existsSync(file) ? file : undefined;
  } catch {
    return undefined;
  }
}
