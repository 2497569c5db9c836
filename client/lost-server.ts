import { HoldfastError, codeOf } from '../contract/plain/errors';
import { fullDisk } from '../host/system-errors';

const grpcDeadline = 4;
const grpcUnavailable = 14;

/** Waits for what was asked of the server. A server that does not answer is an error with a code, in whatever the SDK wraps it. */
export async function answered<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw withCode(error);
  }
}

export function withCode(error: unknown): unknown {
  if (codeOf(error) !== undefined) return error;
  const full = fullDisk(error);
  if (full !== undefined) return full;
  if (!isLost(error)) return error;
  return new HoldfastError('server-unreachable', 'The Temporal server does not answer.', { cause: error });
}

function isLost(error: unknown): boolean {
  for (let cause = error; typeof cause === 'object' && cause !== null; cause = (cause as { cause?: unknown }).cause) {
    const { code } = cause as { code?: unknown };
    if (code === grpcDeadline || code === grpcUnavailable) return true;
  }
  return false;
}
