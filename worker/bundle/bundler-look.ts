import { existsSync, statSync } from 'node:fs';
import { ImportMap } from './import-map';

export interface Compiler {
  inputFileSystem: object | null;
  readonly hooks: {
    readonly beforeRun: Hook<unknown>;
    readonly compilation: Hook<{ readonly hooks: { readonly finishModules: Hook<Iterable<BundledModule>> } }>;
    readonly normalModuleFactory: Hook<{ readonly hooks: { readonly beforeResolve: Hook<Import>; readonly afterResolve: Hook<Import> } }>;
    readonly emit: AsyncHook<Compiled>;
    readonly done: Hook<{ readonly compilation: Compiled }>;
  };
}
interface Hook<T> {
  tap(name: string, run: (value: T) => void): void;
}
interface AsyncHook<T> extends Hook<T> {
  tapPromise(name: string, run: (value: T) => Promise<void>): void;
}

export interface Compiled {
  readonly errors: readonly { readonly message: string }[];
  readonly fileDependencies: Iterable<string>;
  readonly missingDependencies: Iterable<string>;
  getAssets(): readonly { readonly source: { source(): string | Buffer } }[];
}

/** The SDK's file system looks up each file for every import, a fifth of the bundling time. */
export class FilesLookedUpOnce {
  apply(compiler: Compiler): void {
    // The cached file system that webpack makes before the SDK replaces it.
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

export interface BundleInputs {
  readonly files: readonly string[];
  /** Paths that were not found. A new file there would replace another. */
  readonly absent: readonly string[];
}

export class BundlerLook {
  readonly imports = new ImportMap();
  readonly problems: string[] = [];
  /** A module with a top-level await would export only a promise, and so would its importers. */
  readonly waiting: string[] = [];
  inputs: BundleInputs = { files: [], absent: [] };

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
    hooks.done.tap('holdfast', ({ compilation }) => {
      this.problems.push(...compilation.errors.map(({ message }) => message));
      const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
      this.inputs = {
        files: [...compilation.fileDependencies].filter(isFile),
        absent: [...compilation.missingDependencies].filter((path) => !existsSync(path)),
      };
    });
  }
}
