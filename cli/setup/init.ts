import { lstatSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { anyOf } from '../../contract/shown';
import { keyVariables } from '../../activities/models/providers/keyed';
import { HoldfastError, messageOf } from '../../contract/errors';
import { namedSystemError } from '../../host/system-errors';
import { makeDirectory } from '../processes/usable-directory';
import { shellWord } from '../../contract/shell-words';
import type { Terminal } from '../terminal';
import { packageManagerOf, type PackageManager } from './package-manager';
import { ownFolder, ownSpec } from './own-package';

type Environment = Readonly<Record<string, string | undefined>>;

/** Makes a project whose tests pass offline. Throws 'file-exists' instead of overwriting a file. */
export function init(terminal: Terminal, folder: string, environment: Environment = process.env): number {
  const directory = resolve(folder);
  const manager = packageManagerOf(environment['npm_config_user_agent']);
  const files = projectFiles(packageName(directory), manager, ownSpec(directory));
  write(directory, files);
  const { bold, dim } = terminal.paint;
  terminal.write(`Made a project in ${directory}: ${Object.keys(files).join(', ')}`);
  terminal.write();
  terminal.write(`  ${bold(`${directory === process.cwd() ? '' : `cd ${shellWord(folder)} && `}${manager.name} install`)}`);
  terminal.write(`  ${bold(`${manager.name} test`)}`);
  terminal.write(`  ${bold(`${manager.name} start`)}  ${dim('serves it, and says what to try')}`);
  return 0;
}

export function projectFiles(name: string, manager: PackageManager, own: string): Readonly<Record<string, string>> {
  const keys = anyOf(keyVariables.map((variable) => `\`${variable}\``));
  const filled: Readonly<Record<string, string>> = {
    name,
    install: `${manager.name} install`,
    test: `${manager.name} test`,
    start: `${manager.name} start`,
    exec: manager.exec,
    keys,
    holdfast: JSON.stringify(own).slice(1, -1),
  };
  const folder = join(ownFolder(), 'cli', 'templates', 'project');
  const files = readdirSync(folder).map((file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    // npm packs no `.gitignore`, and tools would read a package.json or tsconfig.json of the templates.
    if (!file.startsWith('_')) return [file, text];
    return [
      file === '_gitignore' ? '.gitignore' : file.slice(1),
      text.replace(/\{\{(\w+)\}\}/g, (given, key: string) => filled[key] ?? given),
    ];
  });
  if (manager.needsNodeModules) files.push(['.yarnrc.yml', 'nodeLinker: node-modules\n']);
  return Object.fromEntries(files) as Record<string, string>;
}

/** A package cannot depend on a package of equal name. */
export function packageName(directory: string): string {
  const name = basename(directory)
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+|-+$/g, '')
    .slice(0, longestName);
  if (name === '') return 'my-agents';
  return taken.includes(name) ? `my-${name}` : name;
}

const longestName = 200;
const taken: readonly string[] = ['holdfast', 'zod', 'jiti', 'typescript', 'node_modules', 'favicon.ico'];

function write(directory: string, files: Readonly<Record<string, string>>): void {
  const written: string[] = [];
  try {
    makeDirectory(directory);
    const existing = Object.keys(files).filter((name) => lstatSync(join(directory, name), { throwIfNoEntry: false }) !== undefined);
    if (existing.length > 0) throw new Error(`${directory} already has ${existing.join(', ')}`);
    for (const [name, text] of Object.entries(files)) {
      const path = join(directory, name);
      writeFileSync(path, text, { flag: 'wx' });
      written.push(path);
    }
  } catch (error) {
    for (const path of written) rmSync(path, { force: true });
    const isInTheWay = ['ENOTDIR', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '');
    const named = isInTheWay ? undefined : namedSystemError(error, `making a project in ${directory}`);
    throw named ?? new HoldfastError('file-exists', `init overwrites no file: ${messageOf(error)}.`, { cause: error });
  }
}
