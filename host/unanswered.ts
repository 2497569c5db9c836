import type { makeGrpcRetryInterceptor } from '@temporalio/client';

type UnansweredInterceptor = ReturnType<typeof makeGrpcRetryInterceptor>;

const grpcOk = 0;
const grpcDeadline = 4;
const grpcUnavailable = 14;

/** Carries the server's address through code that knows no server. */
const addressKey = 'holdfast-server-address';

export function withAddress(address: string, inner: UnansweredInterceptor): UnansweredInterceptor {
  return (options, next) => {
    const call = inner(options, next);
    const start = call.start.bind(call);
    call.start = (metadata, listener) =>
      start(metadata, {
        ...(listener?.onReceiveMetadata === undefined ? {} : { onReceiveMetadata: listener.onReceiveMetadata.bind(listener) }),
        ...(listener?.onReceiveMessage === undefined ? {} : { onReceiveMessage: listener.onReceiveMessage.bind(listener) }),
        onReceiveStatus: (status) => {
          if (Number(status.code) !== grpcOk) status.metadata.set(addressKey, address);
          listener?.onReceiveStatus?.(status);
        },
      });
    return call;
  };
}

export function unanswered(error: unknown): string | undefined {
  for (let cause = error; typeof cause === 'object' && cause !== null; cause = (cause as { cause?: unknown }).cause) {
    const { code, metadata } = cause as { code?: unknown; metadata?: unknown };
    if (code !== grpcDeadline && code !== grpcUnavailable) continue;
    const address = addressIn(metadata);
    return `The Temporal server${address === undefined ? '' : ` at ${address}`} does not answer.`;
  }
  return undefined;
}

function addressIn(metadata: unknown): string | undefined {
  const { get } = (metadata ?? {}) as { get?: unknown };
  if (typeof get !== 'function') return undefined;
  const [address] = get.call(metadata, addressKey) as readonly unknown[];
  return typeof address === 'string' ? address : undefined;
}
