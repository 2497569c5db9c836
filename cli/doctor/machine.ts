import { accessSync, constants, existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fine, found, foundBy, type Finding } from './finding';

/** `range`: such as `^20.19.0 || >=26.0.0`. */
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

/** Two copies of a package do not share state and classes, and the SDK fails with different copies of protobufjs. */
export function checkPackages(holdfast: string, project: string): Finding {
  const home = realpathSync(holdfast);
  const own = read(home) ?? {};
  const wanted = Object.entries(own.dependencies ?? {});
  const others = wanted.flatMap(([name, version]) => {
    const folder = installed(name, home);
    const found = folder === undefined ? 'missing' : (read(folder)?.version ?? 'unreadable');
    return found === version ? [] : [`${name} is ${found} and must be ${version}`];
  });
  const beside = installed('holdfast', project);
  if (beside !== undefined && realpathSync(beside) !== home)
    others.push(`the project has Holdfast ${read(beside)?.version ?? ''} in ${beside}, and this command is ${holdfast}`);
  const ofTemporal = wanted.map(([name]) => name).filter((name) => name.startsWith('@temporalio/'));
  for (const name of ofTemporal) others.push(...twoCopies(name, project, home));
  for (const name of ofTemporal) others.push(...twoCopies('protobufjs', installed(name, home), home));
  if (others.length === 0) return fine('packages', `Holdfast ${own.version ?? ''}, with the packages it is tested with.`);
  return found('packages', 'problem', 'packages-differ', `Packages differ from those that Holdfast is tested with: ${others.join('; ')}.`);
}

function twoCopies(name: string, one: string | undefined, other: string): readonly string[] {
  const found = [one, other].flatMap((from) => (from === undefined ? [] : (installed(name, realpathSync(from)) ?? [])));
  if (found.length < 2 || new Set(found.map((folder) => realpathSync(folder))).size < 2) return [];
  return [`${name} is there twice: ${found.map((folder) => `${read(folder)?.version ?? ''} in ${folder}`).join(' and ')}`];
}

function installed(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return candidate;
    if (dirname(folder) === folder) return undefined;
  }
}

function read(folder: string): Package | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Package;
  } catch {
    return undefined;
  }
}

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
