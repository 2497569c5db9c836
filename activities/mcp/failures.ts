import { OAuthError, ProtocolError, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } from '@modelcontextprotocol/client';
import { messageOf } from '../../contract/errors';
import { AskRefused } from './asks';

/**
 * `refused`: the server did not begin the call, or answered with an error. `no-session`: the server has forgotten the session. `unsent`: no
 * byte left the worker. `late`: no answer in time. `lost`: the call may have taken effect.
 */
export type McpFailure = 'refused' | 'no-session' | 'unsent' | 'late' | 'lost';

export const endedStream = 'holdfast/ended-stream';
/** The server looks at tokens before it begins a call. */
export function isUnauthorized(error: unknown): boolean {
  if (error instanceof UnauthorizedError || error instanceof OAuthError) return true;
  return error instanceof SdkHttpError && error.status === 401;
}

export function failureOfCall(error: unknown, hasSession: boolean): McpFailure {
  if (error instanceof ProtocolError && error.data === endedStream) return 'lost';
  if (error instanceof ProtocolError || error instanceof UnauthorizedError) return 'refused';
  if (error instanceof SdkHttpError) {
    if (error.status === 404 && hasSession) return 'no-session';
    return error.status >= 400 && error.status < 500 && error.status !== 408 ? 'refused' : 'lost';
  }
  if (error instanceof SdkError) {
    if (error.code === SdkErrorCode.RequestTimeout) return 'late';
    if (error.code === SdkErrorCode.NotConnected) return 'unsent';
  }
  if (error instanceof AskRefused) return 'refused';
  return error instanceof Error && error.message === 'Not connected' ? 'unsent' : 'lost';
}

export function whyUnreachable(error: unknown, command = ''): string {
  let root = error as { readonly code?: string; readonly cause?: unknown };
  while (typeof root.cause === 'object' && root.cause !== null) root = root.cause;
  const said = root === error ? messageOf(error) : `${messageOf(error)}: ${messageOf(root) || root.code}`;
  if (root.code === SdkErrorCode.ConnectionClosed) return `${said}. The process has ended: look at the output of the worker.`;
  return root.code === 'ENOENT' && /\s/.test(command) ? `${said}. Write arguments into \`args\`.` : said;
}
