import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { keyedProviderTable } from '../../../activities/models/providers/keyed';
import { init, packageName, projectFiles } from '../../../cli/setup/init';
import { ownSpec } from '../../../cli/setup/own-package';
import { packageManagerOf } from '../../../cli/setup/package-manager';
import { recordedTerminal } from '../../support/recorded-terminal';
import { errorSaying } from '../../support/failures';

const root = resolve(__dirname, '..', '..', '..');
const json = (text: string): Record<string, Record<string, string>> => JSON.parse(text) as never;
const ours = json(readFileSync(join(root, 'package.json'), 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'holdfast-init-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const names = [
  '.gitignore',
  'README.md',
  'agents.ts',
  'holdfast.config.ts',
  'package.json',
  'support.test.ts',
  'tools.ts',
  'tsconfig.json',
];
let made = 0;
const fresh = (): string => join(folder, `project-${made++}`);

function initialize(directory: string, userAgent?: string): string {
  const terminal = recordedTerminal({ live: false });
  expect(init(terminal, directory, { npm_config_user_agent: userAgent })).toBe(0);
  return terminal.written();
}

describe('holdfast init', () => {
  it('makes a folder, also below one that there is not, and ends with three lines of what to do', () => {
    const directory = join(fresh(), 'below');
    const said = initialize(directory);
    expect(readdirSync(directory).sort()).toEqual(names);
    expect(said.trimEnd().split('\n').slice(-3)).toEqual([
      `  cd ${directory} && npm install`,
      '  npm test',
      '  npm start  serves it, and says what to try',
    ]);
  });

  it('works in an empty folder, and beside files that it does not write', () => {
    const directory = fresh();
    mkdirSync(directory);
    writeFileSync(join(directory, 'LICENSE'), 'mine');
    initialize(directory);
    expect(readdirSync(directory).sort()).toEqual(['.gitignore', 'LICENSE', ...names.slice(1)]);
  });

  it('overwrites no file, names all that it would, and writes nothing then', () => {
    const directory = fresh();
    mkdirSync(directory);
    writeFileSync(join(directory, 'tools.ts'), 'mine');
    symlinkSync('nowhere', join(directory, '.gitignore'));
    expect(() => initialize(directory)).toThrow(
      expect.objectContaining({
        code: 'file-exists',
        message: `init overwrites no file: ${directory} already has .gitignore, tools.ts.`,
      }) as Error,
    );
    expect(readdirSync(directory).sort()).toEqual(['.gitignore', 'tools.ts']);
    expect(readFileSync(join(directory, 'tools.ts'), 'utf8')).toBe('mine');
  });

  it.each([
    ['the folder', (file: string) => file],
    ['a folder above', (file: string) => join(file, 'below')],
  ])('is refused where %s is a file', (_, directoryIn) => {
    const file = fresh();
    writeFileSync(file, '');
    expect(() => initialize(directoryIn(file))).toThrow(errorSaying('file-exists'));
  });

  it.each([
    [undefined, 'npm install', 'npx holdfast run'],
    ['npm/11.19.1 node/v20.20.2 linux x64 workspaces/false', 'npm install', 'npx holdfast run'],
    ['pnpm/10.34.8 npm/? node/v20.20.2 linux x64', 'pnpm install', 'pnpm exec holdfast run'],
    ['yarn/1.22.22 npm/? node/v20.20.2 linux x64', 'yarn install', 'yarn holdfast run'],
    ['yarn/4.9.2 npm/? node/v20.20.2 linux x64', 'yarn install', 'yarn holdfast run'],
  ])('names the package manager that runs it: %s', (userAgent, install, run) => {
    const directory = fresh();
    expect(initialize(directory, userAgent)).toContain(`&& ${install}\n`);
    const readme = readFileSync(join(directory, 'README.md'), 'utf8');
    expect(readme).toContain(`\n${install}\n`);
    expect(readme).toContain(`\n${run} support`);
    expect(readdirSync(directory).includes('.yarnrc.yml')).toBe(userAgent?.startsWith('yarn/4') ?? false);
  });

  it.each([
    ['my-agents', 'my-agents'],
    ['My Agents!', 'my-agents'],
    ['.hidden', 'hidden'],
    ['holdfast', 'my-holdfast'],
    ['zod', 'my-zod'],
    ['日本', 'my-agents'],
    ['x'.repeat(250), 'x'.repeat(200)],
  ])('calls the project in the folder "%s" %s', (name, expected) => {
    expect(packageName(join(folder, name))).toBe(expected);
  });
});

describe('a project that a packed file makes', () => {
  function installed(named: string | undefined, at = ['node_modules', 'holdfast'], isThere = true): string {
    const home = fresh();
    const own = join(home, 'cache', ...at);
    mkdirSync(own, { recursive: true });
    if (isThere) writeFileSync(join(home, 'holdfast-9.9.9.tgz'), '');
    writeFileSync(join(own, 'package.json'), '{"name":"holdfast","version":"9.9.9"}');
    if (named !== undefined)
      writeFileSync(join(home, 'cache', 'package.json'), JSON.stringify({ dependencies: { holdfast: named.replace('HOME', home) } }));
    return own;
  }
  const specOf = (own: string): string => ownSpec(join(own.replace(/\/cache\/.*/, ''), 'demo'), own);

  it.each([
    ['npm and npx', installed('file:../holdfast-9.9.9.tgz')],
    ['pnpm', installed('file:HOME/holdfast-9.9.9.tgz', ['node_modules', '.pnpm', 'holdfast@file+9.9.9', 'node_modules', 'holdfast'])],
    ['yarn', installed('../holdfast-9.9.9.tgz')],
  ])('depends on that file, which no registry has to know: %s', (_, own) => {
    expect(specOf(own)).toBe('file:../holdfast-9.9.9.tgz');
  });

  it.each([
    ['came from a registry', installed('9.9.9')],
    ['came from a folder', installed('file:..')],
    ['is where nobody says why', installed(undefined)],
    ['came from a file that is gone', installed('file:../holdfast-9.9.9.tgz', undefined, false)],
  ])('depends on the version where the package %s', (_, own) => {
    expect(specOf(own)).toBe('9.9.9');
  });
});

it('is a package of which npm runs and warns of nothing where it is installed', () => {
  const asks = ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare', 'postprepare'];
  expect(Object.keys(ours['scripts'] ?? {}).filter((name) => asks.includes(name))).toEqual([]);
});

describe('the template of a project', () => {
  const files = projectFiles('demo', packageManagerOf(), ownSpec('demo'));

  it('leaves no placeholder unfilled', () => {
    expect(Object.entries(files).filter(([, text]) => /\{\{|\}\}/.test(text))).toEqual([]);
  });

  it('has exact versions, which are those of Holdfast', () => {
    const { name, engines, dependencies, devDependencies } = json(files['package.json']!);
    const all = { ...ours['devDependencies'], ...ours['dependencies'], holdfast: ours['version'] } as unknown as Record<string, string>;
    const used = { ...dependencies, ...devDependencies };
    expect(Object.keys(used).sort()).toEqual(['@types/node', 'holdfast', 'jiti', 'typescript', 'zod']);
    expect(used).toEqual(Object.fromEntries(Object.keys(used).map((each) => [each, all[each]])));
    expect(Object.values(used).filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
    expect({ name, engines }).toEqual({ name: 'demo', engines: ours['engines'] });
  });

  it('has the compiler options of the guide', () => {
    expect(readFileSync(join(root, 'docs/guides/own-project.md'), 'utf8')).toContain(files['tsconfig.json']!);
  });

  it('names the variables of keys for models', () => {
    const keys = Object.values(keyedProviderTable).flatMap(({ needs, keyVariable }) => (needs === 'key' ? [keyVariable] : []));
    for (const key of keys) expect(files['README.md']).toContain(`\`${key}\``);
  });

  it('tells of each of its files for people', () => {
    for (const name of Object.keys(files).filter((file) => file.endsWith('.ts'))) expect(files['README.md']).toContain(`| \`${name}\``);
  });
});
