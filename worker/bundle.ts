import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { bundleWorkflowCode } from '@temporalio/worker';
import { HoldfastError, messageOf } from '../contract/errors';
import { ImportMap, describedImports } from './import-map';

export interface WorkflowBundle {
  /** Hash of the code: the same code is the same build, wherever it lies. */
  readonly buildId: string;
  readonly code: string;
}

const workflowsFolder = resolve(__dirname, '..', 'workflows');

const agentsRequest = '__holdfast_agents__';

/** Bundles an agents module for the workflow sandbox. What does not belong there is an error that says where it is imported. */
export async function bundleAgents(agentsPath: string): Promise<WorkflowBundle> {
  const path = resolve(agentsPath);
  if (!existsSync(path)) throw new HoldfastError('agents-invalid', `There is no agents module at ${path}.`);
  const output: string[] = [];
  const look = new BundlerLook();
  const { code } = await bundleWorkflowCode({
    workflowsPath: require.resolve(join(workflowsFolder, 'entry')),
    workflowInterceptorModules: [require.resolve(join(workflowsFolder, 'interceptors'))],
    preloadModules: [require.resolve(join(workflowsFolder, 'preload'))],
    logger: quietLogger(output),
    webpackConfigHook: (config) => ({
      ...config,
      // It keeps what a second compilation would use, and there is none.
      cache: false,
      plugins: [...(config.plugins ?? []), look, new FilesLookedUpOnce()],
      resolve: {
        ...config.resolve,
        alias: {
          ...config.resolve?.alias,
          [agentsRequest]: path,
          'holdfast/workflow': require.resolve(join(workflowsFolder, 'index')),
          'holdfast/middleware': require.resolve(join(workflowsFolder, '..', 'middleware', 'index')),
          'holdfast/callbacks': require.resolve(join(workflowsFolder, '..', 'middleware', 'callbacks', 'index')),
          'holdfast/eino': require.resolve(join(workflowsFolder, '..', 'middleware', 'forms', 'index')),
        },
      },
    }),
  }).catch((error: unknown) => {
    const cause = new Error([...output, messageOf(error)].join('\n').trim(), { cause: error });
    throw new HoldfastError('agents-invalid', refusalOf(path, look, messageOf(error)), { cause });
  });
  if (look.waiting.length > 0)
    throw new HoldfastError(
      'agents-invalid',
      `The sandbox waits for no module. Take \`await\` from the top level of ${look.waiting.join(' and ')}.`,
    );
  return { buildId: buildIdOf(code, path), code };
}

const mostShown = 3;

/** Why an agents module cannot be bundled. What the bundler wrote, often pages, is the cause of the error. */
function refusalOf(path: string, { imports, problems }: BundlerLook, message: string): string {
  const found = imports.nodeImports(agentsRequest);
  if (found.length === 0) {
    const more = problems.length > 1 ? ` (And ${problems.length - 1} more.)` : '';
    return `The agents module ${path} cannot be bundled for the sandbox. ${shortened(problems[0] ?? message)}${more}`;
  }
  const folder = dirname(realpathSync(path));
  const more = found.length > mostShown ? [`So do ${found.length - mostShown} more files.`] : [];
  const [drawn] = found.flatMap(({ requests }) => requests.slice(0, 1));
  return [
    `The agents module ${path} needs Node, which the workflow sandbox does not have.`,
    ...found.slice(0, mostShown).map((each) => describedImports(each, folder)),
    ...more,
    ...(drawn === undefined ? [] : [`Where only types of it are used, write \`import type { … } from '${drawn}'\`.`]),
    'Move what needs Node into a tool.',
  ].join(' ');
}

/** What a compiler says of a mistake, without the compiler's own insides. */
function shortened(problem: string): string {
  const [said = ''] = stripVTControlCharacters(problem).split(/\n\s*(?:Caused by|Stack backtrace):/);
  return said.replace(/^Module build failed \(from [^)]*\):\n(?:Error: )?/, '').trim();
}

interface Compiler {
  inputFileSystem: object | null;
  readonly hooks: {
    readonly beforeRun: Hook<unknown>;
    readonly compilation: Hook<{ readonly hooks: { readonly finishModules: Hook<Iterable<BundledModule>> } }>;
    readonly normalModuleFactory: Hook<{ readonly hooks: { readonly beforeResolve: Hook<Import>; readonly afterResolve: Hook<Import> } }>;
    readonly done: Hook<{ readonly compilation: { readonly errors: readonly { readonly message: string }[] } }>;
  };
}
interface Hook<T> {
  tap(name: string, run: (value: T) => void): void;
}
/** The SDK gives the bundler files that are looked up anew for every import of every module. A fifth of the time goes there. */
class FilesLookedUpOnce {
  apply(compiler: Compiler): void {
    // What webpack has made for itself by now, and what the SDK puts in its place afterwards.
    const Cached = compiler.inputFileSystem?.constructor as (new (files: object | null, milliseconds: number) => never) | undefined;
    if (Cached === undefined) return;
    compiler.hooks.beforeRun.tap('holdfast', () => {
      compiler.inputFileSystem = new Cached(compiler.inputFileSystem, 60_000);
    });
  }
}

interface BundledModule {
  readonly resource?: string;
  readonly buildMeta?: { readonly async?: boolean };
}
interface Import {
  readonly request: string;
  readonly contextInfo: { readonly issuer: string };
  readonly createData?: { readonly resource?: string };
}

/** What the bundler comes by, for errors that say more than its own. */
class BundlerLook {
  readonly imports = new ImportMap();
  readonly problems: string[] = [];
  /** The modules with a top-level await. Such a module, and all that import it, would export nothing but a promise. */
  readonly waiting: string[] = [];

  apply({ hooks }: Compiler): void {
    const note = ({ request, contextInfo, createData }: Import): void =>
      this.imports.add(contextInfo.issuer, request, createData?.resource);
    hooks.normalModuleFactory.tap('holdfast', (factory) => {
      factory.hooks.beforeResolve.tap('holdfast', note);
      factory.hooks.afterResolve.tap('holdfast', note);
    });
    hooks.compilation.tap('holdfast', (compilation) =>
      compilation.hooks.finishModules.tap('holdfast', (modules) => {
        for (const { buildMeta, resource } of modules) if (buildMeta?.async === true) this.waiting.push(resource ?? 'a module');
      }),
    );
    hooks.done.tap('holdfast', ({ compilation }) => this.problems.push(...compilation.errors.map(({ message }) => message)));
  }
}

function buildIdOf(code: string, agentsPath: string): string {
  const withoutMap = code.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '');
  const placed = [dirname(agentsPath), resolve(workflowsFolder, '..')].sort((a, b) => b.length - a.length);
  const normalized = placed.reduce((text, folder) => text.split(folder).join(''), withoutMap);
  return createHash('sha256').update(normalized).digest('hex').slice(0, 16);
}

type Level = 'TRACE' | 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';

function quietLogger(
  problems: string[],
): { log(level: Level, message: string): void } & Record<'trace' | 'debug' | 'info' | 'warn' | 'error', (message: string) => void> {
  const keep = (message: string): void => void problems.push(message);
  const drop = (): void => undefined;
  return {
    log: (level, message) => (level === 'ERROR' ? keep(message) : undefined),
    trace: drop,
    debug: drop,
    info: drop,
    warn: drop,
    error: keep,
  };
}
