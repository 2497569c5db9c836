import { withoutCredentials } from '../contract/credentials';
import type { ErrorCode } from '../contract/errors';
import { codeOf, errorTable, isErrorCode } from '../contract/errors';
import { namedSystemError } from '../host/system-errors';
import type { PlaceInSource } from './processes/place-in-source';
import { toldFailure } from './processes/place-in-source';
import type { Terminal } from './terminal';
import { printable } from './terminal';

/** A failure as every command prints it. The stack only shows with HOLDFAST_LOG_LEVEL=debug or trace. */
export function reportError(
  error: unknown,
  terminal: Terminal,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): void {
  const named = namedSystemError(error, 'running this command') ?? error;
  const { reason, place } = toldFailure(named);
  reportFailure({ code: codeOf(named) ?? 'internal', message: reason }, terminal, place);
  const debugging = ['debug', 'trace'].includes((environment['HOLDFAST_LOG_LEVEL'] ?? '').toLowerCase());
  if (!debugging) return;
  for (let cause = error; cause instanceof Error; cause = cause.cause) terminal.writeError(cause.stack ?? String(cause));
}

/** A failure that came over a continue-as-new: the code may be one that this version does not know. */
export function reportFailure(
  { code, message }: { readonly code: string; readonly message: string },
  terminal: Terminal,
  place?: PlaceInSource,
): void {
  const { red, bold } = terminal.paint;
  terminal.writeError(`${red(`error ${bold(code)}:`)} ${printable(withoutCredentials(message))}`);
  for (const line of place === undefined ? [] : [place.at, place.source]) terminal.writeError(`  ${printable(withoutCredentials(line))}`);
  if (isErrorCode(code)) terminal.writeError(`fix: ${errorTable[code satisfies ErrorCode].fix}`);
}
