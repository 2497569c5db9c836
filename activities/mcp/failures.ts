import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } from '@modelcontextprotocol/client';
import { messageOf } from '../../contract/errors';

/**
 * `refused`: the server did not begin the call, or answered with an error. `no-session`: the server has forgotten the session. `unsent`: no
 * byte left the worker. `late`: no answer in time. `lost`: the call may have taken effect.
 */
export type McpFailure = 'refused' | 'no-session' | 'unsent' | 'late' | 'lost';

export const endedStream = 'holdfast/ended-stream';

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
  return error instanceof Error && error.message === 'Not connected' ? 'unsent' : 'lost';
}

export function whyUnreachable(error: unknown, command: string | undefined): string {
  const root = rootOf(error) as { readonly code?: string };
  const said = root === error ? messageOf(error) : `${messageOf(error)}: ${messageOf(root) || root.code}`;
  if (command === undefined) return said;
  if (root.code === SdkErrorCode.ConnectionClosed) return `${said}. The process has ended: look at the output of the worker.`;
  return root.code === 'ENOENT' && /\s/.test(command) ? `${said}. Write arguments into \`args\`.` : said;
}

/** Such as the refused connection of a failed fetch. */
function rootOf(error: unknown): unknown {
  const { cause } = error as { readonly cause?: unknown };
  return typeof cause === 'object' && cause !== null ? rootOf(cause) : error;
}
