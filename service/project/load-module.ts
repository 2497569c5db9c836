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

export async function loadModule(path: string): Promise<Record<string, unknown>> {
  // With interop, a module would be a proxy around its default export.
  const jiti = createJiti(path, { interopDefault: false, virtualModules: sharedModules(path) });
  return jiti.import<Record<string, unknown>>(path);
}

/**
 * Shared with the process: the doors, which have state (the context of a call), and zod of the same version. Modules load at their first
 * import.
 */
export function sharedModules(path: string): Record<string, unknown> {
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
