import { HoldfastError, codeOf } from '../../contract/errors';
import { fullDisk } from '../../host/system-errors';
import { unanswered } from '../../host/unanswered';

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
  const lost = unanswered(error);
  return lost === undefined ? error : new HoldfastError('server-unreachable', lost, { cause: error });
}
