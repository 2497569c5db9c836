import { codeOf, errorTable, HoldfastError, messageOf, type ErrorCode } from '../../contract/errors';
import { namedSystemError } from '../../host/system-errors';
import { toldFailure } from '../processes/place-in-source';
import type { Terminal } from '../terminal';

export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'problem';
  readonly message: string;
  readonly code?: ErrorCode;
  readonly fix?: string;
}

export function fine(check: string, message: string): Finding {
  return { check, status: 'ok', message };
}

export function found(check: string, status: 'warning' | 'problem', code: ErrorCode, message: string): Finding {
  return { check, status, message: messageOf(new HoldfastError(code, message)), code, fix: errorTable[code].fix };
}

/** `work` returns the message of a success, and throws the problem. */
export async function checkedBy(check: string, work: () => Promise<string>): Promise<Finding> {
  try {
    return fine(check, await work());
  } catch (error) {
    return foundBy(check, error, codeOf(error) === 'retention-short' ? 'warning' : 'problem');
  }
}

export function foundBy(check: string, error: unknown, status: 'warning' | 'problem' = 'problem'): Finding {
  const named = namedSystemError(error, `checking the ${check}`) ?? error;
  const { reason, place } = toldFailure(named);
  return found(check, status, codeOf(named) ?? 'internal', place === undefined ? reason : `${reason} At ${place.at}.`);
}

export function showFinding({ paint, write }: Terminal, { check, status, message, code, fix }: Finding): void {
  const color = { ok: paint.green, warning: paint.yellow, problem: paint.red }[status];
  write(`${color(status.padEnd(8))} ${check.padEnd(14)} ${code === undefined ? '' : `${paint.bold(code)}: `}${message}`);
  if (fix !== undefined) write(`${' '.repeat(24)}${paint.dim(`fix: ${fix}`)}`);
}
