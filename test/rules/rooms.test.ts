import { readFileSync, readdirSync } from 'node:fs';
import { join, posix, relative, resolve } from 'node:path';
import ts from 'typescript';
import { doorNames, exportsOf } from '../support/door-names';

const root = resolve(__dirname, '..', '..');

/** Rooms of the kernel from the ground up. A room imports only earlier rooms; rooms of one line do not import each other. */
const kernelRooms = [['effects'], ['define'], ['run'], ['calls', 'log'], ['hooks'], ['turn'], ['agents'], ['engine']];

/** Folders and their allowed imports, types included. */
const folders: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  kernel: ['contract'],
  'testing/memory': ['contract', 'kernel'],
  middleware: ['contract', 'kernel', 'host', 'activities'],
  workflows: ['contract', 'kernel', 'middleware'],
  host: ['contract'],
  activities: ['contract', 'kernel', 'host'],
  client: ['contract', 'host'],
  'client/http': ['contract'],
  console: ['contract', 'client/http'],
  worker: ['contract', 'kernel', 'host', 'activities', 'middleware'],
  service: ['contract', 'kernel', 'host', 'activities', 'client', 'client/http'],
  testing: ['contract', 'kernel', 'testing/memory', 'middleware', 'workflows', 'host', 'activities', 'client', 'worker'],
};

const mostLines = 350;
/** Files over the limit, with their most lines. The list may only get shorter. */
const tooLong: Readonly<Record<string, number>> = {};

interface Source {
  readonly path: string;
  readonly lines: number;
  readonly imports: readonly string[];
}

function sourcesIn(folder: string): readonly Source[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => posix.join(folder, name.split('\\').join('/')))
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      const { importedFiles } = ts.preProcessFile(text, true, true);
      const imports = importedFiles.flatMap(({ fileName }) =>
        fileName.startsWith('.')
          ? [
              relative(root, resolve(root, posix.dirname(path), fileName))
                .split('\\')
                .join('/'),
            ]
          : [],
      );
      return { path, lines: text.split('\n').length - 1, imports };
    });
}

const sources = [...Object.keys(folders).filter((folder) => !folder.includes('/')), 'cli'].flatMap(sourcesIn);
const topOf = (path: string): string => {
  const [top = '', below] = path.split('/');
  return `${top}/${below}` in folders ? `${top}/${below}` : top;
};
const floorOf = (path: string): number => kernelRooms.findIndex((rooms) => rooms.includes(path.split('/')[1] ?? ''));
const roomOf = (path: string): string => path.split('/')[1] ?? '';

it('sees the files and their imports', () => {
  expect(sources.length).toBeGreaterThan(300);
  expect(sources.find(({ path }) => path === 'kernel/turn/loop.ts')?.imports).toContain('kernel/turn/tool-step');
});

it('the root of the kernel is empty', () => {
  expect(sources.filter(({ path }) => /^kernel\/[^/]+\.ts$/.test(path)).map(({ path }) => path)).toEqual([]);
});

it('every room of the kernel is known', () => {
  expect(sources.filter(({ path }) => topOf(path) === 'kernel' && floorOf(path) < 0).map(({ path }) => path)).toEqual([]);
});

it('a room of the kernel imports only rooms below it', () => {
  const upward = sources.flatMap(({ path, imports }) =>
    topOf(path) !== 'kernel'
      ? []
      : imports
          .filter((target) => topOf(target) === 'kernel' && roomOf(target) !== roomOf(path) && floorOf(target) >= floorOf(path))
          .map((target) => `${path} imports ${target}`),
  );
  expect(upward).toEqual([]);
});

it('a folder imports only the folders that it may, types included', () => {
  const wrong = sources.flatMap(({ path, imports }) => {
    const allowed = folders[topOf(path)];
    if (allowed === undefined) return [];
    return imports
      .filter((target) => topOf(target) !== topOf(path) && !allowed.includes(topOf(target)) && topOf(target) in folders)
      .map((target) => `${path} imports ${target}`);
  });
  expect(wrong).toEqual([]);
});

it('built-ins use of the kernel only what users write agents with, and its errors', () => {
  const allowed = (target: string): boolean => target.startsWith('kernel/define/') || target === 'kernel/effects/errors';
  const deep = sources.flatMap(({ path, imports }) =>
    topOf(path) !== 'middleware'
      ? []
      : imports.filter((target) => topOf(target) === 'kernel' && !allowed(target)).map((target) => `${path} imports ${target}`),
  );
  expect(deep).toEqual([]);
});

it("two files know the insides of Temporal's SDK, and no code has a patch or a local activity", () => {
  const inside = /@temporalio\/[a-z-]+\/lib\/|__TEMPORAL_ACTIVATOR__|\bpatched\(|proxyLocalActivities/;
  const knowing = sources.filter(({ path }) => inside.test(readFileSync(join(root, path), 'utf8'))).map(({ path }) => path);
  expect(knowing.sort()).toEqual(['worker/sdk-internals.ts', 'workflows/sdk-internals.ts']);
});

it('no file is longer than one idea', () => {
  const long = sources.filter(({ path, lines }) => lines > (tooLong[path] ?? mostLines)).map(({ path, lines }) => `${path}: ${lines}`);
  expect(long).toEqual([]);
});

it('the list of long files names no file that has become short', () => {
  const short = Object.keys(tooLong).filter((long) => (sources.find(({ path }) => path === long)?.lines ?? 0) <= mostLines);
  expect(short).toEqual([]);
});

it('no two types have one name', () => {
  const places = new Map<string, string[]>();
  for (const { path } of sources)
    for (const [, name = ''] of readFileSync(join(root, path), 'utf8').matchAll(/^export (?:interface|type|class|enum) (\w+)/gm))
      places.set(name, [...(places.get(name) ?? []), path]);
  const shared = [...places].filter(([, paths]) => paths.length > 1).map(([name, paths]) => `${name}: ${paths.join(', ')}`);
  expect(shared).toEqual([]);
});

it('the doors of the package export at most 480 names', () => {
  expect(doorNames.reduce((sum, door) => sum + exportsOf(door).size, 0)).toBeLessThanOrEqual(480);
});
