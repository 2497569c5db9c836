import { createRequire } from 'node:module';
import { createJiti } from 'jiti';
import { readFileSync } from 'node:fs';
import { dirname, extname, isAbsolute, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const doors = [
  'holdfast',
  'holdfast/workflow',
  'holdfast/middleware',
  'holdfast/callbacks',
  'holdfast/eino',
  'holdfast/worker',
  'holdfast/client',
  'holdfast/service',
  'holdfast/http',
  'holdfast/testing',
];

export async function loadModule(path: string): Promise<Record<string, unknown>> {
  // With interop, a module would be a proxy around its default export.
  const jiti = createJiti(path, { interopDefault: false, virtualModules: sharedModules(path) });
  return jiti.import<Record<string, unknown>>(path);
}

/**
 * Shared with the process: the doors, which have state (the context of a call), and zod of the same version. Modules load at their first
 * import.
 */
function sharedModules(path: string): Record<string, unknown> {
  const shared: Record<string, unknown> = {};
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- at the first import, from this package
  const share = (name: string): unknown => Object.defineProperty(shared, name, { enumerable: true, get: () => require(name) as unknown });
  for (const door of doors) share(door);
  if (hasOurs('zod', path)) share('zod');
  return shared;
}

function hasOurs(name: string, path: string): boolean {
  try {
    return createRequire(path).resolve(name) === createRequire(__filename).resolve(name);
  } catch {
    return true;
  }
}

type Require = ReturnType<typeof createRequire>;

interface JitiWorld {
  readonly onError: (error: unknown) => never;
  readonly nativeImport: (id: string | URL) => Promise<unknown>;
  readonly createRequire: (file: string) => Require;
}

const codeExtensions = ['.js', '.mjs', '.cjs', '.ts', '.tsx', '.mts', '.cts', '.mtsx', '.ctsx'];

/** Node never forgets an ES module, so jiti loads a project's modules with a cache for one load. Packages load once for the process. */
export class FreshModules {
  /** Read files, files that failed to load, and missing files of imports. */
  readonly files = new Set<string>();
  private readonly cache: Record<string, unknown> = new Proxy<Record<string, unknown>>(
    {},
    {
      set: (cache, file, module) => {
        if (typeof file === 'string' && isOfProject(file)) this.files.add(file);
        return Reflect.set(cache, file, module);
      },
    },
  );

  readonly load = async (path: string): Promise<Record<string, unknown>> => {
    this.files.add(path);
    const world: JitiWorld = {
      onError: (error) => {
        throw error;
      },
      nativeImport: async (id) => {
        const file = id instanceof URL ? fileURLToPath(id) : id;
        if (isCode(file)) throw new Error(`${file} belongs to the project.`);
        return import(String(id)) as Promise<unknown>;
      },
      createRequire: (file) => this.requireFrom(file),
    };
    const jiti = innerJiti()(path, { interopDefault: false, virtualModules: sharedModules(path), transform }, world);
    try {
      return await jiti.import<Record<string, unknown>>(path);
    } catch (error) {
      for (const file of missingFiles(error)) this.files.add(file);
      throw error;
    }
  };

  private requireFrom(file: string): Require {
    const own = createRequire(file);
    const load = (id: string): unknown => {
      const path = own.resolve(id);
      if (!isOfProject(path)) return own(id) as unknown;
      this.files.add(path);
      if (isCode(path)) throw new Error(`${path} belongs to the project.`);
      return extname(path) === '.json' ? (JSON.parse(readFileSync(path, 'utf8')) as unknown) : (own(id) as unknown);
    };
    return Object.assign(load, { resolve: own.resolve, extensions: own.extensions, main: own.main, cache: this.cache }) as Require;
  }
}

function missingFiles(error: unknown): readonly string[] {
  const { message = '', requireStack } = error as { readonly message?: string; readonly requireStack?: readonly string[] };
  const request = /^Cannot find module '(\.{1,2}\/[^']*)'/.exec(message)?.[1];
  const from = requireStack?.[0];
  if (request === undefined || from === undefined) return [];
  const path = resolve(dirname(from), request);
  // An import of `./a.js` may mean `a.ts`.
  const bare = codeExtensions.includes(extname(path)) ? path.slice(0, -extname(path).length) : path;
  return [path, ...[...codeExtensions, '.json'].flatMap((extension) => [`${bare}${extension}`, join(bare, `index${extension}`)])];
}

function isOfProject(path: string): boolean {
  return isAbsolute(path) && !path.includes(`${sep}node_modules${sep}`);
}

function isCode(path: string): boolean {
  return isOfProject(path) && codeExtensions.includes(extname(path));
}

const jitiFolder = (): string => join(dirname(require.resolve('jiti')), '..', 'dist');

function innerJiti(): (path: string, options: object, world: JitiWorld) => ReturnType<typeof createJiti> {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- behind its entry point, which takes no other `createRequire`
  return require(join(jitiFolder(), 'jiti.cjs')) as (path: string, options: object, world: JitiWorld) => ReturnType<typeof createJiti>;
}

function transform(options: unknown): unknown {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- large, and needed when a file has changed
  return (require(join(jitiFolder(), 'babel.cjs')) as (options: unknown) => unknown)(options);
}
