import { withoutCredentials } from '../contract/credentials';
import { HoldfastError, messageOf } from '../contract/errors';

const reporters = new Set<(problem: HoldfastError) => void>();

/**
 * Reports what is rejected unseen in this process, until the returned function is called. A promise that a tool made and nobody awaited must not take
 * the process with it, and all other runs.
 */
export function reportStrayRejections(to: (problem: HoldfastError) => void): () => void {
  if (!process.listeners('unhandledRejection').includes(onRejection)) process.on('unhandledRejection', onRejection);
  reporters.add(to);
  return () => void reporters.delete(to);
}

/** Stays to the end of the process: what a worker left behind may be rejected later. */
function onRejection(reason: unknown): void {
  const problem = new HoldfastError(
    'tool-failed',
    `A promise was rejected that nobody awaited, in code of the project: ${withoutCredentials(messageOf(reason))}`,
    { cause: reason },
  );
  for (const reporter of reporters) reporter(problem);
}
