import type { makeGrpcRetryInterceptor } from '@temporalio/client';

type ClosedInterceptor = ReturnType<typeof makeGrpcRetryInterceptor>;
type NextInterceptor = Parameters<ClosedInterceptor>[1];

const grpcCancelled = 1;

/**
 * Requests that are made again by a timer may come to a connection that was closed meanwhile. gRPC would throw there, out of the timer, and
 * end the process: they end as cancelled instead.
 */
export function whileOpen(isOpen: () => boolean, inner: ClosedInterceptor): ClosedInterceptor {
  return (options, next) => inner(options, (wanted) => (isOpen() ? next(wanted) : closedCall()));
}

function closedCall(): ReturnType<NextInterceptor> {
  const nothing = (): void => undefined;
  return {
    start: (metadata, listener) => {
      // What a call without an answer says, too.
      listener?.onReceiveMessage?.(null);
      listener?.onReceiveStatus?.({ code: grpcCancelled, details: 'The connection was closed.', metadata: metadata.clone() });
    },
    cancelWithStatus: nothing,
    getPeer: () => '',
    sendMessageWithContext: nothing,
    sendMessage: nothing,
    startRead: nothing,
    halfClose: nothing,
    getAuthContext: () => null,
  };
}
