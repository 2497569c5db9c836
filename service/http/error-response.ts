import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { withCode } from '../../client/connection/lost-server';
import { withoutCredentials } from '../../contract/credentials';
import type { ErrorCode } from '../../contract/errors';
import { codeOf, errorTable, messageOf } from '../../contract/errors';
import type { Logger } from '../../host/logger';
import { namedSystemError } from '../../host/system-errors';

/** Problem details (RFC 9457), plus code and fix. */
export interface ErrorBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly error: { readonly code: ErrorCode; readonly message: string; readonly fix: string };
}

export const problemType = 'application/problem+json';

export function errorBody(code: ErrorCode, message: string): ErrorBody {
  const { status, fix } = errorTable[code];
  return { type: `urn:holdfast:error:${code}`, title: code.replaceAll('-', ' '), status, detail: message, error: { code, message, fix } };
}

interface ToldError {
  readonly coded: unknown;
  readonly code: ErrorCode;
  readonly message: string;
}

/** An error without a code is a defect, and only the log contains its message. */
export function toldError(error: unknown, request: string, logger: Logger): ToldError {
  const failed = withCode(error);
  const coded = namedSystemError(failed, 'answering a request') ?? failed;
  const code = codeOf(coded) ?? 'internal';
  if (code === 'internal') {
    logger.error(`${request} failed`, { error });
    return { coded, code, message: `The service failed at ${request}. Its log says why.` };
  }
  const message = withoutCredentials(messageOf(coded));
  logger.debug(`${request} was refused`, { code, message });
  return { coded, code, message };
}

/** The path of a signed link has its secret. */
export function shownPath({ req: { path } }: Context): string {
  return path.replace(/(\/decide\/)[^/]+/, '$1…');
}

export function errorResponse(error: unknown, context: Context, logger: Logger): Response {
  const { code, message } = toldError(error, `${context.req.method} ${shownPath(context)}`, logger);
  const body = errorBody(code, message);
  return context.json(body, body.status as ContentfulStatusCode, { 'content-type': problemType });
}

/** For errors before the app has a request, such as an unreadable host. */
export function requestErrorResponse(error: unknown, logger: Logger): Response {
  const unreadable = error instanceof Error && error.name === 'RequestError';
  if (!unreadable) logger.error('A request failed', { error });
  const code = unreadable ? 'request-invalid' : 'internal';
  const message = unreadable ? `The request cannot be read: ${error.message}.` : 'The service failed. Its log says why.';
  const body = errorBody(code, message);
  return Response.json(body, { status: body.status, headers: { 'content-type': problemType } });
}
