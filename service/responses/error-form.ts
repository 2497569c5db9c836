import type { Context } from 'hono';
import type { Logger } from '../../host/logger';
import type { ErrorBody } from '../http/error-response';
import { errorResponse } from '../http/error-response';

export interface OpenAiErrorBody {
  readonly error: Pick<ErrorBody['error'], 'code' | 'message' | 'fix'> & {
    readonly type: 'invalid_request_error' | 'server_error';
    readonly param: null;
  };
}

/** OpenAI's form, but never 409, which clients would repeat. */
export async function openAiError(error: unknown, context: Context, logger: Logger): Promise<Response> {
  const response = errorResponse(error, context, logger);
  const { error: told } = (await response.json()) as ErrorBody;
  const status = response.status === 409 ? 400 : response.status;
  const type = status < 500 ? 'invalid_request_error' : 'server_error';
  const body: OpenAiErrorBody = { error: { message: told.message, type, param: null, code: told.code, fix: told.fix } };
  return Response.json(body, { status });
}
