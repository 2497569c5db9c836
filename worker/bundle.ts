import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';
import { HoldfastError, messageOf } from '../contract/plain/errors';

export interface WorkflowBundle {
  /** Hash of the code: the same code is the same build, wherever it lies. */
  readonly buildId: string;
  readonly code: string;
}

const workflowsFolder = resolve(__dirname, '..', 'workflows');

/** Bundles an agents module for the workflow sandbox. What does not belong there is an error that says where it is imported. */
export async function bundleAgents(agentsPath: string): Promise<WorkflowBundle> {
  const path = resolve(agentsPath);
  if (!existsSync(path)) throw new HoldfastError('agents-invalid', `There is no agents module at ${path}.`);
  const problems: string[] = [];
  const waiting: string[] = [];
  const { code } = await bundleWorkflowCode({
    workflowsPath: require.resolve(join(workflowsFolder, 'entry')),
    workflowInterceptorModules: [require.resolve(join(workflowsFolder, 'interceptors'))],
    preloadModules: [require.resolve(join(workflowsFolder, 'preload'))],
    logger: quietLogger(problems),
    webpackConfigHook: (config) => ({
      ...config,
      plugins: [...(config.plugins ?? []), modulesThatWait(waiting)],
      resolve: {
        ...config.resolve,
        alias: {
          ...config.resolve?.alias,
          __holdfast_agents__: path,
          'holdfast/workflow': require.resolve(join(workflowsFolder, 'index')),
        },
      },
    }),
  }).catch((error: unknown) => {
    const details = [...problems, messageOf(error)].join('\n').trim();
    throw new HoldfastError(
      'agents-invalid',
      `The agents module ${path} cannot be bundled for the sandbox. Move what needs Node into a tool.\n${details}`,
      { cause: error },
    );
  });
  if (waiting.length > 0)
    throw new HoldfastError(
      'agents-invalid',
      `The sandbox waits for no module. Take \`await\` from the top level of ${waiting.join(' and ')}.`,
    );
  return { buildId: buildIdOf(code, path), code };
}

type Plugin = { apply(compiler: Compiler): void };
interface Compiler {
  readonly hooks: { readonly compilation: Hook<{ readonly hooks: { readonly finishModules: Hook<Iterable<BundledModule>> } }> };
}
interface Hook<T> {
  tap(name: string, run: (value: T) => void): void;
}
interface BundledModule {
  readonly resource?: string;
  readonly buildMeta?: { readonly async?: boolean };
}

/** Collects the modules with a top-level await. Such a module, and all that import it, would export nothing but a promise. */
function modulesThatWait(waiting: string[]): Plugin {
  return {
    apply: ({ hooks }) =>
      hooks.compilation.tap('holdfast', (compilation) =>
        compilation.hooks.finishModules.tap('holdfast', (modules) => {
          for (const { buildMeta, resource } of modules) if (buildMeta?.async === true) waiting.push(resource ?? 'a module');
        }),
      ),
  };
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

/** Keeps the code of every build: a run that is open goes on under the code it began with. */
export class BundleStore {
  constructor(private readonly directory: string) {}

  async save({ buildId, code }: WorkflowBundle): Promise<void> {
    const path = this.pathOf(buildId);
    if (existsSync(path)) return;
    await mkdir(this.directory, { recursive: true });
    const temporary = `${path}.${process.pid}`;
    await writeFile(temporary, code);
    await rename(temporary, path);
  }

  async load(buildId: string): Promise<WorkflowBundle> {
    try {
      return { buildId, code: await readFile(this.pathOf(buildId), 'utf8') };
    } catch (error) {
      throw new HoldfastError('build-missing', `The bundle of build ${buildId} is not in ${this.directory}, and runs of it are open.`, {
        cause: error,
      });
    }
  }

  async builds(): Promise<readonly string[]> {
    if (!existsSync(this.directory)) return [];
    return (await readdir(this.directory)).filter((name) => name.endsWith('.js')).map((name) => name.slice(0, -'.js'.length));
  }

  private pathOf(buildId: string): string {
    return join(this.directory, `${buildId}.js`);
  }
}
