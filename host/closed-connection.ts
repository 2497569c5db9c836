import type { makeGrpcRetryInterceptor } from '@temporalio/client';

type ClosedInterceptor = ReturnType<typeof makeGrpcRetryInterceptor>;
type NextInterceptor = Parameters<ClosedInterceptor>[1];

const grpcCancelled = 1;

/** A timer may retry a request on a closed connection, and gRPC's throw would end the process, so the request ends as cancelled. */
export function whileOpen(isOpen: () => boolean, inner: ClosedInterceptor): ClosedInterceptor {
  return (options, next) => inner(options, (wanted) => (isOpen() ? next(wanted) : closedCall()));
}

function closedCall(): ReturnType<NextInterceptor> {
  const nothing = (): void => undefined;
  return {
    start: (metadata, listener) => {
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
