import { bundleWorkflowCode } from '@temporalio/worker';
import { disallowedModules, moduleMatches } from '@temporalio/worker/lib/workflow/bundler';
import type { WebpackConfig, WorkflowBundle } from './bundle';
import { agentsModule, buildIdOf, bundleAgents, mapOfBundles, quietLogger, sandboxModules, withAgents } from './bundle';

interface Import {
  readonly request: string;
}
interface Hook<T> {
  tap(name: string, run: (value: T) => void): void;
}
interface BundledModule {
  readonly buildMeta?: { readonly async?: boolean };
}
interface Compilation {
  readonly errors: readonly unknown[];
  readonly assets: Readonly<Record<string, unknown>>;
  readonly modules: Iterable<BundledModule>;
}
interface OutputFiles {
  readFileSync(path: string, encoding: 'utf8'): string;
  unlinkSync(path: string): void;
}
/** What of webpack's compiler is used. */
interface WarmCompiler {
  inputFileSystem: object | null;
  outputFileSystem: OutputFiles;
  readonly hooks: {
    readonly beforeRun: Hook<unknown>;
    readonly done: Hook<{ readonly compilation: Compilation }>;
    readonly normalModuleFactory: Hook<{ readonly hooks: { readonly beforeResolve: Hook<Import> } }>;
  };
  run(callback: (error: unknown, stats?: { readonly compilation: Compilation }) => void): void;
  close(callback: (error?: unknown) => void): void;
}

/**
 * Bundles an agents module again and again, and compiles only what has changed. The code is the same as that of bundleAgents(), byte by byte, and so the
 * build is the same. What does not compile is bundled from nothing, which says why.
 */
export class WarmBundler {
  private kept: { readonly path: string; readonly compiler: KeptCompiler } | undefined;

  async bundle(agentsPath: string): Promise<WorkflowBundle> {
    const path = agentsModule(agentsPath);
    if (this.kept?.path !== path) this.close();
    const compiler = this.kept?.compiler ?? new KeptCompiler();
    try {
      const code = await compiler.compile(path);
      this.kept = { path, compiler };
      return { buildId: buildIdOf(code, path), code };
    } catch {
      this.kept = undefined;
      compiler.close();
      return bundleAgents(path);
    }
  }

  /** Frees what is kept of the last compilation, some 100 MB. */
  close(): void {
    this.kept?.compiler.close();
    this.kept = undefined;
  }
}

/** The compiler of the SDK's own bundler, kept after its first run. */
class KeptCompiler {
  private compiler: WarmCompiler | undefined;
  private end: () => void = () => undefined;
  /** It needs Node, or waits for a module. */
  private isRefused = false;

  async compile(path: string): Promise<string> {
    this.isRefused = false;
    const code = this.compiler === undefined ? await this.first(path) : await this.again(this.compiler);
    if (this.isRefused) throw new Error('The sandbox cannot load it.');
    return code;
  }

  close(): void {
    this.end();
  }

  private keep(compiler: WarmCompiler): void {
    this.compiler = compiler;
    const close = compiler.close.bind(compiler);
    this.end = () => close(() => undefined);
    compiler.close = (done) => done();
    // What webpack has made for itself by now, and what the SDK puts in its place afterwards. Each run looks files up once.
    const Cached = compiler.inputFileSystem?.constructor as new (files: object | null, milliseconds: number) => object;
    let files: object | null = null;
    compiler.hooks.beforeRun.tap('holdfast', () => {
      files ??= compiler.inputFileSystem;
      compiler.inputFileSystem = new Cached(files, 60_000);
    });
    compiler.hooks.done.tap('holdfast', ({ compilation }) => {
      if ([...compilation.modules].some(({ buildMeta }) => buildMeta?.async === true)) this.isRefused = true;
    });
    compiler.hooks.normalModuleFactory.tap('holdfast', ({ hooks }) =>
      hooks.beforeResolve.tap('holdfast', ({ request }) => {
        if (moduleMatches(request.replace(/^node:/, ''), disallowedModules)) this.isRefused = true;
      }),
    );
  }

  /** The SDK refuses what needs Node itself, the first time. */
  private async first(path: string): Promise<string> {
    const { code } = await bundleWorkflowCode({
      ...sandboxModules(),
      logger: quietLogger([]),
      webpackConfigHook: (config) => this.warm(config, path),
    });
    if (this.compiler === undefined) throw new Error('The bundler has not begun.');
    return code;
  }

  private warm(config: WebpackConfig, path: string): WebpackConfig {
    const plugin = { apply: (compiler: unknown): void => this.keep(compiler as WarmCompiler) };
    return {
      ...withAgents(config, path, [plugin]),
      cache: { type: 'memory', maxGenerations: 2 },
      devtool: mapOfBundles,
    };
  }

  private async again(compiler: WarmCompiler): Promise<string> {
    const compilation = await new Promise<Compilation>((resolve, reject) =>
      compiler.run((error, stats) => (stats === undefined ? reject(error) : resolve(stats.compilation))),
    );
    const [name = ''] = Object.keys(compilation.assets);
    const file = `/dist/${name}`;
    if (compilation.errors.length > 0) throw new Error('The agents module does not compile.');
    const code = compiler.outputFileSystem.readFileSync(file, 'utf8');
    compiler.outputFileSystem.unlinkSync(file);
    return code;
  }
}
