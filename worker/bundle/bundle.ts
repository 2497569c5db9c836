import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { BundleOptions } from '@temporalio/worker';
import { bundleWorkflowCode } from '@temporalio/worker';
import { HoldfastError, messageOf } from '../../contract/errors';
import type { BundleInputs } from './bundler-look';
import { BundlerLook, FilesLookedUpOnce } from './bundler-look';
import type { NodeImports } from './import-map';
import { describedImports } from './import-map';

export interface WorkflowBundle {
  /** Hash of the code without paths: equal code is one build, in any folder. */
  readonly buildId: string;
  readonly code: string;
}

/** Without columns and sources, which would be two thirds of a bundle. */
const mapOfBundles = 'inline-nosources-cheap-module-source-map';

const workflowsFolder = resolve(__dirname, '..', '..', 'workflows');

export const agentsRequest = '__holdfast_agents__';

type WebpackConfig = Parameters<NonNullable<BundleOptions['webpackConfigHook']>>[0];

export function withAgents(config: WebpackConfig, agentsPath: string, plugins: NonNullable<WebpackConfig['plugins']>): WebpackConfig {
  return {
    ...config,
    plugins: [...(config.plugins ?? []), ...plugins],
    resolve: {
      ...config.resolve,
      alias: {
        ...config.resolve?.alias,
        [agentsRequest]: agentsPath,
        'holdfast/workflow': sandboxFile('index'),
        'holdfast/middleware': require.resolve(join(workflowsFolder, '..', 'middleware', 'index')),
        'holdfast/callbacks': require.resolve(join(workflowsFolder, '..', 'middleware', 'callbacks', 'index')),
        'holdfast/eino': require.resolve(join(workflowsFolder, '..', 'middleware', 'forms', 'index')),
      },
    },
  };
}

export function sandboxFile(name: string): string {
  return require.resolve(join(workflowsFolder, name));
}

export function agentsModule(agentsPath: string): string {
  const path = resolve(agentsPath);
  if (!existsSync(path)) throw new HoldfastError('agents-invalid', `There is no agents module at ${path}.`);
  return path;
}

function sandboxModules(): Pick<BundleOptions, 'workflowsPath' | 'workflowInterceptorModules' | 'preloadModules'> {
  return {
    workflowsPath: sandboxFile('entry'),
    workflowInterceptorModules: [sandboxFile('interceptors')],
    preloadModules: [sandboxFile('preload')],
  };
}

/**
 * Bundles an agents module for the workflow sandbox. An unsupported import is an error that names the importing file.
 * @example
 * const { buildId, code } = await bundleAgents('agents.ts');
 * console.log(`Build ${buildId} has ${code.length} characters.`);
 * await new BundleStore('.holdfast/bundles').save({ buildId, code });
 */
export async function bundleAgents(agentsPath: string): Promise<WorkflowBundle> {
  return (await bundleFrom(agentsPath)).bundle;
}

export async function bundleFrom(agentsPath: string): Promise<{ readonly bundle: WorkflowBundle; readonly inputs: BundleInputs }> {
  const path = agentsModule(agentsPath);
  const output: string[] = [];
  const look = new BundlerLook();
  const { code } = await bundleWorkflowCode({
    ...sandboxModules(),
    logger: quietLogger(output),
    webpackConfigHook: (config) => ({
      ...withAgents(config, path, [look, new FilesLookedUpOnce()]),
      // A cache would only help a second compilation.
      cache: false,
      devtool: mapOfBundles,
    }),
  }).catch((error: unknown) => {
    const cause = new Error([...output, messageOf(error)].join('\n').trim(), { cause: error });
    throw new HoldfastError('agents-invalid', refusalOf(path, look, messageOf(error)), { cause });
  });
  refuseWaiting(look);
  return { bundle: { buildId: buildIdOf(code, path), code }, inputs: look.inputs };
}

/** The sandbox does not wait for modules with a top-level await. */
export function refuseWaiting({ waiting }: BundlerLook): void {
  if (waiting.length === 0) return;
  throw new HoldfastError(
    'agents-invalid',
    `The sandbox waits for no module. Take \`await\` from the top level of ${waiting.join(' and ')}.`,
  );
}

const mostShown = 3;

function refusalOf(path: string, { imports, problems }: BundlerLook, message: string): string {
  const found = imports.nodeImports(agentsRequest);
  if (found.length > 0) return needsNode(path, found);
  const more = problems.length > 1 ? ` (And ${problems.length - 1} more.)` : '';
  return `The agents module ${path} cannot be bundled for the sandbox. ${shortened(problems[0] ?? message)}${more}`;
}

export function needsNode(path: string, found: readonly NodeImports[]): string {
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

function shortened(problem: string): string {
  const [said = ''] = stripVTControlCharacters(problem).split(/\n\s*(?:Caused by|Stack backtrace):/);
  return said.replace(/^Module build failed \(from [^)]*\):\n(?:Error: )?/, '').trim();
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
