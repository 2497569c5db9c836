import { withoutCredentials } from '../contract/credentials';
import { codeOf, errorTable, isErrorCode, type ErrorCode } from '../contract/errors';
import { createLogger, type LogFormat } from '../host/logger';
import { namedSystemError } from '../host/system-errors';
import { toldFailure, type PlaceInSource } from './processes/place-in-source';
import type { Terminal } from './terminal';

/** Shows the stack only with HOLDFAST_LOG_LEVEL=debug or trace. */
export function reportError(
  error: unknown,
  terminal: Terminal,
  environment: Readonly<Record<string, string | undefined>> = process.env,
  /** `json`: the failure is a line of the log. */
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

/** A failure of a run may have a code of a newer version. */
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

/** Indents further lines, so that no line looks like a line of Holdfast. */
function writeErrors(terminal: Terminal, text: string): void {
  text.split('\n').forEach((line, at) => terminal.writeError(at === 0 || line.startsWith(' ') ? line : `  ${line}`));
}
