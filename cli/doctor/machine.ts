import { accessSync, constants, existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Finding } from './finding';
import { fine, found, foundBy } from './finding';

/** Whether this version of Node is one of those that package.json names, in the form `^20.19.0 || >=26.0.0`. */
export function checkNode(version: string, range: string): Finding {
  const given = numbersOf(version);
  const fits = range.split('||').some((part) => {
    const least = numbersOf(part);
    const isNewEnough = compare(given, least) >= 0;
    return part.trim().startsWith('^') ? isNewEnough && given[0] === least[0] : isNewEnough;
  });
  if (fits) return fine('node', `Node ${version}.`);
  return found('node', 'problem', 'node-unsupported', `Node ${version} is not one of ${range}.`);
}

function numbersOf(version: string): readonly number[] {
  return (/(\d+)\.(\d+)\.(\d+)/.exec(version) ?? []).slice(1).map(Number);
}

function compare(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((part, position) => part !== other[position]);
  return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}

interface Package {
  readonly name?: string;
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/**
 * Whether the packages that this Holdfast loads are those it is tested with, and whether the project has the same Holdfast: two of them have two instances
 * of all state, such as the context of a call.
 */
export function checkPackages(holdfast: string, project: string): Finding {
  const own = read(join(holdfast, 'package.json')) ?? {};
  const others = Object.entries(own.dependencies ?? {}).flatMap(([name, wanted]) => {
    const folder = installed(name, realpathSync(holdfast));
    const version = folder === undefined ? 'missing' : (read(join(folder, 'package.json'))?.version ?? 'unreadable');
    return version === wanted ? [] : [`${name} is ${version} and must be ${wanted}`];
  });
  const beside = installed('holdfast', project);
  if (beside !== undefined && realpathSync(beside) !== realpathSync(holdfast))
    others.push(
      `the project has Holdfast ${read(join(beside, 'package.json'))?.version ?? ''} in ${beside}, and this command is ${holdfast}`,
    );
  if (others.length === 0) return fine('packages', `Holdfast ${own.version ?? ''}, with the packages it is tested with.`);
  return found('packages', 'problem', 'packages-differ', `Packages differ from those that Holdfast is tested with: ${others.join('; ')}.`);
}

/** The folder of a package, as Node finds it from another folder. */
function installed(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return candidate;
    if (dirname(folder) === folder) return undefined;
  }
}

function read(path: string): Package | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Package;
  } catch {
    return undefined;
  }
}

/** Whether the directory of the embedded server, or the one in which it is to be made, can be written to. */
export function checkDirectory(directory: string): Finding {
  try {
    const present = nearest(directory);
    if (!statSync(present).isDirectory())
      return found('directory', 'problem', 'config-invalid', `HOLDFAST_DIR needs a directory, and ${present} is a file.`);
    accessSync(present, constants.W_OK | constants.X_OK);
    return fine('directory', `Files can be written to ${directory}.`);
  } catch (error) {
    return foundBy('directory', error);
  }
}

function nearest(directory: string): string {
  return existsSync(directory) || dirname(directory) === directory ? directory : nearest(dirname(directory));
}
