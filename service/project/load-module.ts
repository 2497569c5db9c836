import { createRequire } from 'node:module';
import { createJiti } from 'jiti';

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

/** Loads a module of a project, TypeScript or not, CommonJS or ESM. What it throws comes through as it is. */
export async function loadModule(path: string): Promise<Record<string, unknown>> {
  // Without interop a module is what it exports, and not a proxy around its default export.
  const jiti = createJiti(path, { interopDefault: false, virtualModules: sharedModules(path) });
  return jiti.import<Record<string, unknown>>(path);
}

/**
 * The modules of which project and process must have one instance: the doors, whose state (the context of a call) would otherwise be two, and
 * zod, where the project has no other version of it. Each is loaded when a project's module asks for it.
 */
export function sharedModules(path: string): Record<string, unknown> {
  const shared: Record<string, unknown> = {};
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- only when it is asked for, and from this very package
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
