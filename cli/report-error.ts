import { withoutCredentials } from '../contract/credentials';
import type { ErrorCode } from '../contract/errors';
import { codeOf, errorTable, isErrorCode } from '../contract/errors';
import type { LogFormat } from '../host/logger';
import { createLogger } from '../host/logger';
import { namedSystemError } from '../host/system-errors';
import type { PlaceInSource } from './processes/place-in-source';
import { toldFailure } from './processes/place-in-source';
import type { Terminal } from './terminal';

/** A failure as every command prints it. The stack only shows with HOLDFAST_LOG_LEVEL=debug or trace. */
export function reportError(
  error: unknown,
  terminal: Terminal,
  environment: Readonly<Record<string, string | undefined>> = process.env,
  /** Of a process whose log is for machines: the failure is a line of it. */
  format: LogFormat = 'text',
): void {
  const named = namedSystemError(error, 'running this command') ?? error;
  const { reason, place } = toldFailure(named);
  const code = codeOf(named) ?? 'internal';
  if (format === 'json') {
    const fix = isErrorCode(code) ? errorTable[code satisfies ErrorCode].fix : undefined;
    return createLogger({ format, write: (line) => terminal.writeError(line.trimEnd()) }).error(reason, { code, fix, ...place });
  }
  reportFailure({ code, message: reason }, terminal, place);
  const debugging = ['debug', 'trace'].includes((environment['HOLDFAST_LOG_LEVEL'] ?? '').toLowerCase());
  if (!debugging) return;
  for (let cause = error; cause instanceof Error; cause = cause.cause) writeErrors(terminal, cause.stack ?? String(cause));
}

/** A failure that came over a continue-as-new: the code may be one that this version does not know. */
export function reportFailure(
  { code, message }: { readonly code: string; readonly message: string },
  terminal: Terminal,
  place?: PlaceInSource,
): void {
  const { red, bold } = terminal.paint;
  writeErrors(terminal, `${red(`error ${bold(code)}:`)} ${withoutCredentials(message)}`);
  for (const line of place === undefined ? [] : [place.at, place.source]) terminal.writeError(`  ${withoutCredentials(line)}`);
  if (isErrorCode(code)) terminal.writeError(`fix: ${errorTable[code satisfies ErrorCode].fix}`);
}

/** Lines below the first cannot be taken for one of ours. */
function writeErrors(terminal: Terminal, text: string): void {
  text.split('\n').forEach((line, at) => terminal.writeError(at === 0 || line.startsWith(' ') ? line : `  ${line}`));
}
