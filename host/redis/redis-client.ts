import { setTimeout as delay } from 'node:timers/promises';

export type RedisClient = Awaited<ReturnType<typeof connectRedis>>;

export interface RedisListener {
  onError(error: unknown): void;
  onReady?(): void;
}

export const redisPatienceMs = 2_000;

/** Does not wait long for a Redis that is away. The client connects again by itself, and until then refuses commands at once. */
export async function connectRedis(
  url: string,
  { onError, onReady }: RedisListener,
  { patienceMs = redisPatienceMs, silentMs }: { readonly patienceMs?: number; readonly silentMs?: number } = {},
) {
  const { createClient } = await import('@redis/client');
  const client = createClient({
    url,
    disableOfflineQueue: true,
    ...(silentMs === undefined ? {} : { pingInterval: silentMs / 4 }),
    socket: {
      connectTimeout: patienceMs,
      ...(silentMs === undefined ? {} : { socketTimeout: silentMs }),
      reconnectStrategy: (tries) => Math.min(100 * 2 ** tries, 1_000),
    },
  });
  client.on('error', onError);
  // A client that is destroyed while it connects would keep the connection.
  client.on('connect', () => client.isOpen || client.destroy());
  if (onReady !== undefined) client.on('ready', onReady);
  const connecting = client.connect().catch(onError);
  await Promise.race([connecting, delay(patienceMs, undefined, { ref: false })]);
  return client;
}
