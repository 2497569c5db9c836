import { resolve } from 'node:path';
import type { BundleOptions } from '@temporalio/worker';
import { moduleMatches } from '../sdk-internals';
import { HoldfastError } from '../../contract/errors';
import { agentsModule, agentsRequest, needsNode, refuseWaiting, sandboxFile, withAgents } from './bundle';
import type { Compiled, Compiler } from './bundler-look';
import { BundlerLook } from './bundler-look';
import { loadInSandbox } from './check-bundle';
import type { NodeImports } from './import-map';

/** An export of entry-beside.ts, so every bundle with agents contains the mark. */
const mark = 'holdfastAgentsBeside';

export function hasAgents(code: string): boolean {
  return code.includes(mark);
}

export const noWorkflows = (): string => sandboxFile('no-workflows');

/** The agents module, by the hook of the options. */
const pathOf = new WeakMap<object, string>();
const noHook = {};

export function bundledBeside(options: BundleOptions, agents: string): BundleOptions {
  const entry = sandboxFile('entry-beside');
  const path = agentsModule(agents);
  // The plugin may come twice, for example through a connection.
  if (options.workflowsPath === entry) {
    const before = pathOf.get(options.webpackConfigHook ?? noHook);
    if (before === undefined || before === path) return options;
    throw new HoldfastError(
      'config-invalid',
      `The bundle has holdfastPlugin twice, for ${before} and for ${path}. Export all agents from one module.`,
    );
  }
  const check = new BesideCheck(path, options.ignoreModules ?? []);
  const webpackConfigHook: NonNullable<BundleOptions['webpackConfigHook']> = (given) => {
    const config = withAgents(options.webpackConfigHook?.(given) ?? given, path, [check]);
    const alias = { ...config.resolve?.alias, __holdfast_workflows__: resolve(options.workflowsPath) };
    return { ...config, resolve: { ...config.resolve, alias } };
  };
  pathOf.set(webpackConfigHook, path);
  return {
    ...options,
    workflowsPath: entry,
    workflowInterceptorModules: [...(options.workflowInterceptorModules ?? []), sandboxFile('interceptors')],
    preloadModules: [sandboxFile('shared-modules'), ...(options.preloadModules ?? [])],
    webpackConfigHook,
  };
}

/** The SDK makes the bundle, so the check runs inside the bundler. */
class BesideCheck {
  private readonly look = new BundlerLook();

  constructor(
    private readonly agents: string,
    private readonly ignored: readonly string[],
  ) {}

  apply(compiler: Compiler): void {
    this.look.apply(compiler);
    compiler.hooks.emit.tapPromise('holdfast', (compiled) => this.check(compiled));
    compiler.hooks.done.tap('holdfast', () => this.refuseNode());
  }

  private async check(compiled: Compiled): Promise<void> {
    if (compiled.errors.length > 0) return;
    this.refuseNode();
    refuseWaiting(this.look);
    const code = String(compiled.getAssets()[0]?.source.source() ?? '');
    if (!hasAgents(code))
      throw new HoldfastError(
        'config-invalid',
        'Another plugin replaced the workflowsPath of holdfastPlugin, so the bundle has no agents. Put holdfastPlugin last.',
      );
    await loadInSandbox({ code }, 'The agents module beside the workflows does not');
  }

  private refuseNode(): void {
    const found = this.look.imports.nodeImports(agentsRequest).filter((each) => !this.isIgnored(each));
    if (found.length > 0) throw new HoldfastError('agents-invalid', needsNode(this.agents, found));
  }

  private isIgnored({ found }: NodeImports): boolean {
    return found.every(({ needs }) => needs.every((need) => moduleMatches(need, [...this.ignored])));
  }
}
