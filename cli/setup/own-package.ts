import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, relative, resolve } from 'node:path';
import { isRecord } from '../../contract/check';

/** Sources and dist find the same folder by the package name. */
export function ownFolder(): string {
  return dirname(require.resolve('holdfast/package.json'));
}

export function ownManifest(): { readonly version: string; readonly engines: { readonly node: string } } {
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  return require('holdfast/package.json') as ReturnType<typeof ownManifest>;
}

/** A version, or the packed file of the installation. */
export function ownSpec(directory: string, folder = ownFolder()): string {
  const { version } = JSON.parse(readFileSync(resolve(folder, 'package.json'), 'utf8')) as { readonly version: string };
  const file = installedFrom(folder);
  if (file === undefined) return version;
  const way = relative(directory, file).replaceAll('\\', '/');
  return `file:${way}`;
}

/** Also finds folders of `npx` and `pnpm dlx`. Undefined: the package came from a registry. */
function installedFrom(folder: string): string | undefined {
  for (let around = dirname(folder); around !== dirname(around); around = dirname(around)) {
    const named = dependencyIn(around, basename(folder));
    if (named === undefined) continue;
    const file = resolve(around, named.replace(/^file:/, ''));
    return /\.(tgz|tar\.gz)$/.test(file) && existsSync(file) ? file : undefined;
  }
  return undefined;
}

function dependencyIn(folder: string, name: string): string | undefined {
  try {
    const project: unknown = JSON.parse(readFileSync(resolve(folder, 'package.json'), 'utf8'));
    const all = ['dependencies', 'devDependencies'].map((field) => (isRecord(project) ? project[field] : undefined));
    return all.map((some) => (isRecord(some) ? some[name] : undefined)).find((spec): spec is string => typeof spec === 'string');
  } catch {
    return undefined;
  }
}
