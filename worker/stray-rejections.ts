import { withoutCredentials } from '../contract/credentials';
import { HoldfastError, messageOf } from '../contract/errors';

const reporters = new Set<(problem: HoldfastError) => void>();

/** A promise that a tool did not await must not end the process with all other runs. */
export function reportStrayRejections(to: (problem: HoldfastError) => void): () => void {
  if (!process.listeners('unhandledRejection').includes(onRejection)) process.on('unhandledRejection', onRejection);
  reporters.add(to);
  return () => void reporters.delete(to);
}

/** Stays until the process ends: promises of an ended worker may reject later. */
function onRejection(reason: unknown): void {
  const problem = new HoldfastError(
    'tool-failed',
    `A promise was rejected that nobody awaited, in code of the project: ${withoutCredentials(messageOf(reason))}`,
    { cause: reason },
  );
  for (const reporter of reporters) reporter(problem);
}
