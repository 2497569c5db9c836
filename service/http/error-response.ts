import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { withCode } from '../../client/lost-server';
import { withoutCredentials } from '../../contract/credentials';
import type { ErrorCode } from '../../contract/errors';
import { codeOf, errorTable, messageOf } from '../../contract/errors';
import type { Logger } from '../../host/logger';
import { namedSystemError } from '../../host/system-errors';

/** What is wrong, and what to change: problem details (RFC 9457), with the code as a member of its own. */
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

/** What is known goes out with its code; the rest is a defect, of which only the log tells more. */
export function errorResponse(error: unknown, context: Context, logger: Logger): Response {
  const request = `${context.req.method} ${context.req.path}`;
  const failed = withCode(error);
  const coded = namedSystemError(failed, 'answering a request') ?? failed;
  const known = codeOf(coded);
  if (known === undefined || known === 'internal') {
    logger.error(`${request} failed`, { error });
    return bodyOf(context, 'internal', `The service failed at ${request}. Its log says why.`);
  }
  const message = withoutCredentials(messageOf(coded));
  logger.debug(`${request} was refused`, { code: known, message });
  return bodyOf(context, known, message);
}

/** The same for what fails before the app has a request: most often its line or its host cannot be read. */
export function requestErrorResponse(error: unknown, logger: Logger): Response {
  const unreadable = error instanceof Error && error.name === 'RequestError';
  if (!unreadable) logger.error('A request failed', { error });
  const code = unreadable ? 'request-invalid' : 'internal';
  const message = unreadable ? `The request cannot be read: ${error.message}.` : 'The service failed. Its log says why.';
  const body = errorBody(code, message);
  return Response.json(body, { status: body.status, headers: { 'content-type': problemType } });
}

function bodyOf(context: Context, code: ErrorCode, message: string): Response {
  const body = errorBody(code, message);
  return context.json(body, body.status as ContentfulStatusCode, { 'content-type': problemType });
}
