import { isBuiltin } from 'node:module';
import { relative } from 'node:path';
import { disallowedModules, moduleMatches } from '../sdk-internals';

export interface NodeImports {
  readonly files: readonly string[];
  readonly requests: readonly string[];
  readonly found: readonly NodeImport[];
}

interface NodeImport {
  readonly request: string;
  /** Imported modules that the sandbox lacks, modules of Node first. */
  readonly needs: readonly string[];
}

export class ImportMap {
  private readonly imports = new Map<string, Map<string, string | undefined>>();

  add(file: string, request: string, target?: string): void {
    const requests = this.imports.get(file) ?? new Map<string, string | undefined>();
    requests.set(request, target ?? requests.get(request));
    this.imports.set(file, requests);
  }

  /** The project's files that import a module which needs Node, shortest way first. */
  nodeImports(request: string): readonly NodeImports[] {
    const first = [...this.imports.values()].map((requests) => requests.get(request)).find((file) => file !== undefined);
    if (first === undefined) return [];
    const seen = new Set([first]);
    const ways: Omit<NodeImports, 'found'>[] = [{ files: [first], requests: [] }];
    // The list grows during the loop.
    for (const { files, requests } of ways) {
      for (const [next, target] of this.imports.get(files.at(-1) ?? '') ?? []) {
        if (!isOwn(next) || target === undefined || seen.has(target)) continue;
        seen.add(target);
        ways.push({ files: [...files, target], requests: [...requests, next] });
      }
    }
    return ways.map((way) => ({ ...way, found: this.foundIn(way.files.at(-1) ?? '') })).filter(({ found }) => found.length > 0);
  }

  private foundIn(file: string): readonly NodeImport[] {
    return [...(this.imports.get(file) ?? [])].flatMap(([request, target]) => {
      if (isOwn(request)) return [];
      const needs = isForNode(request) ? [plain(request)] : this.needsOf(target);
      return needs.length === 0 ? [] : [{ request, needs }];
    });
  }

  private needsOf(file: string | undefined): readonly string[] {
    const needs = new Set<string>();
    const queue = file === undefined ? [] : [file];
    const seen = new Set(queue);
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      for (const [request, target] of this.imports.get(next) ?? []) {
        if (isForNode(request)) needs.add(plain(request));
        else if (target !== undefined && !seen.has(target)) {
          seen.add(target);
          queue.push(target);
        }
      }
    }
    return [...needs].sort((one, other) => Number(isBuiltin(other)) - Number(isBuiltin(one)) || (one < other ? -1 : 1));
  }
}

export function describedImports({ files, requests, found }: NodeImports, folder: string): string {
  const name = (file: string | undefined): string =>
    relative(folder, file ?? '')
      .split('\\')
      .join('/');
  const hops = requests.map((request, position) => `${name(files[position])} imports '${request}'`);
  return `${[...hops, `${name(files.at(-1))} imports ${found.map(described).join(' and ')}`].join(', and ')}.`;
}

function described({ request, needs }: NodeImport): string {
  if (isBuiltin(request)) return `'${request}' of Node`;
  const most = needs.slice(0, 3).join(', ');
  return `'${request}' (needs ${needs.length > 3 ? `${most} and ${needs.length - 3} more` : most})`;
}

function isOwn(request: string): boolean {
  return /^(\.{1,2}(\/|$)|\/|[a-z]:[\\/])/i.test(request);
}

function isForNode(request: string): boolean {
  return request.startsWith('node:') || moduleMatches(request, disallowedModules);
}

function plain(request: string): string {
  return request.replace(/^node:/, '');
}
