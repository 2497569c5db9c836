import { Script } from 'node:vm';

const checking = new Script('check()');

/** What a check gives, or nothing when it takes longer. Nothing else ends a regular expression that takes for ever. */
export function inTime<T>(check: () => T, milliseconds: number): T | undefined {
  try {
    return checking.runInNewContext({ check }, { timeout: milliseconds }) as T;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw error;
  }
}
