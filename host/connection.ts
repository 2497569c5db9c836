import { defined } from '../contract/defined';
import { connect } from 'node:net';
import { Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import type { NativeConnectionOptions } from '@temporalio/worker';
import { withoutCredentials } from '../contract/credentials';
import { HoldfastError, messageOf } from '../contract/errors';
import { shown } from '../contract/shown';
import { whileOpen } from './closed-connection';
import { addressProblem, headerProblem, isLoopback } from './check-settings';
import { HistoryConnection } from './history/history-connection';
import { withAddress } from './unanswered';

export interface TemporalSettings {
  /** host:port */
  readonly address: string;
  readonly namespace: string;
  readonly tls?: NativeConnectionOptions['tls'];
  readonly apiKey?: string;
  /** Headers of every request. */
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface TemporalConnection {
  readonly connection: HistoryConnection;
  readonly namespace: string;
  close(): Promise<void>;
}

/** visibility-gate.ts repeats lists and counts over the rate; retries of gRPC would add requests. */
const grpcResourceExhausted = 8;
const ofVisibility = /\/(List|Count)WorkflowExecutions$/;
const usual = defaultGrpcRetryOptions();
const retry = makeGrpcRetryInterceptor(usual);
const retryOfVisibility = makeGrpcRetryInterceptor({
  ...usual,
  retryableDecider: (attempt, status) => Number(status.code) !== grpcResourceExhausted && usual.retryableDecider(attempt, status),
});
const retries: typeof retry = (options, next) =>
  (ofVisibility.test(options.method_definition.path) ? retryOfVisibility : retry)(options, next);

const defaultDeadlineMs = 10_000;
const refusalPatienceMs = 500;

/** A page of a history may exceed gRPC's 4 MB after a few signals of 1.5 MB. */
export const channelArgs = { 'grpc.max_receive_message_length': 128 * 1024 * 1024 };

/**
 * Connects to a Temporal server, and waits for an answer. Throws 'server-unreachable' or 'config-invalid'.
 * @example
 * const connection = await connectTemporal({ address: '127.0.0.1:7233', namespace: 'default' });
 * const client = new HoldfastClient(connection);
 * console.log(await client.list());
 * await client.close();
 */
export async function connectTemporal(
  settings: TemporalSettings,
  { deadlineMs = defaultDeadlineMs }: { readonly deadlineMs?: number } = {},
): Promise<TemporalConnection> {
  // A failed `Connection.connect` leaves a channel that retries for ever.
  let isOpen = true;
  const connection = lazily(settings, deadlineMs, () => isOpen);
  const close = (): Promise<void> => {
    isOpen = false;
    return connection.close();
  };
  try {
    await connection.ensureConnected();
  } catch (error) {
    const reason = (await refusalOf(settings)) ?? messageOf((error as { cause?: unknown }).cause ?? error);
    await close();
    throw unreachable(settings, reason, error);
  }
  return { connection, namespace: settings.namespace, close };
}

export async function withConnection<T>(
  settings: TemporalSettings,
  work: (connection: HistoryConnection) => Promise<T>,
  deadlineMs = defaultDeadlineMs,
): Promise<T> {
  const { connection, close } = await connectTemporal(settings, { deadlineMs });
  try {
    return await work(connection);
  } finally {
    await close();
  }
}

/** Connects a worker. `NativeConnection` is a parameter because clients must not load the native bridge. */
export async function connectNative<T extends { close(): Promise<void> }>(
  settings: TemporalSettings,
  nativeConnection: { connect(options: NativeConnectionOptions): Promise<T> },
  { deadlineMs = defaultDeadlineMs }: { readonly deadlineMs?: number } = {},
): Promise<T> {
  checkSettings(settings);
  const connecting = nativeConnection.connect(nativeConnectionOptions(settings));
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${deadlineMs} ms`)), deadlineMs);
  });
  try {
    return await Promise.race([connecting, tooLate]);
  } catch (error) {
    connecting.then(
      (late) => late.close(),
      () => undefined,
    );
    // The bridge reports a dump of Rust values, and the innermost message has the reason.
    const said = messageOf(error);
    throw unreachable(settings, /message: "([^"]+)"/.exec(said)?.[1] ?? said, error);
  } finally {
    clearTimeout(timer);
  }
}

function lazily(settings: TemporalSettings, deadlineMs: number, isOpen: () => boolean): HistoryConnection {
  checkSettings(settings);
  try {
    return HistoryConnection.lazy({
      ...clientOptions(settings),
      channelArgs,
      connectTimeout: deadlineMs,
      interceptors: [withAddress(settings.address, whileOpen(isOpen, retries))],
    });
  } catch (error) {
    const what = settings.tls ? 'with these certificates and this key' : 'with these settings';
    throw new HoldfastError('config-invalid', `No connection to ${settings.address} can be made ${what}: ${messageOf(error)}.`, {
      cause: error,
    });
  }
}

function checkSettings({ address, apiKey }: TemporalSettings): void {
  const problem = typeof address === 'string' ? addressProblem(address) : 'It must be host:port.';
  if (problem !== undefined)
    throw new HoldfastError(
      'config-invalid',
      `The address of the Temporal server is ${shown(typeof address === 'string' ? withoutCredentials(address) : address)}. ${problem}`,
    );
  const unfit = apiKey === undefined ? undefined : headerProblem(apiKey);
  if (unfit !== undefined) throw new HoldfastError('config-invalid', `The API key for the Temporal server cannot be used. ${unfit}`);
}

/** On loopback gzip costs more time than smaller messages save. */
export function nativeConnectionOptions(settings: TemporalSettings): NativeConnectionOptions {
  return {
    ...clientOptions(settings),
    ...(isLoopback(settings.address) ? { grpcCompression: { codec: 'none' as const } } : {}),
  };
}

function clientOptions(settings: TemporalSettings) {
  return {
    address: settings.address,
    ...defined({ tls: settings.tls }),
    ...(settings.apiKey ? { apiKey: settings.apiKey } : {}),
    ...(settings.metadata ? { metadata: { ...settings.metadata } } : {}),
  };
}

function unreachable(settings: TemporalSettings, reason: string, cause: unknown): HoldfastError {
  const how = settings.tls ? ' over TLS' : '';
  return new HoldfastError('server-unreachable', `No Temporal server answers at ${settings.address}${how}: ${reason}`, { cause });
}

/** Returns the reason of a failed connection, which gRPC's channel hides. */
async function refusalOf(settings: TemporalSettings): Promise<string | undefined> {
  const refused = await plainRefusal(settings.address);
  if (refused !== undefined) return refused;
  const connection = Connection.lazy({ ...clientOptions(settings), interceptors: [] });
  try {
    await connection.withDeadline(Date.now() + refusalPatienceMs, () => connection.workflowService.getSystemInfo({}));
    return undefined;
  } catch (error) {
    const { details } = error as { details?: unknown };
    if (typeof details !== 'string' || details === '') return messageOf(error);
    return details.includes('Last error: null') ? 'the connection is refused or breaks off' : details;
  } finally {
    await connection.close();
  }
}

/** Undefined: the port is open, or silent. */
function plainRefusal(address: string): Promise<string | undefined> {
  const [, host, port] = /^\[?(.*?)\]?:(\d+)$/.exec(address) ?? [];
  if (host === undefined || Number(port) > 65_535) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port) });
    const end = (reason?: string): void => {
      socket.destroy();
      resolve(reason);
    };
    socket.setTimeout(refusalPatienceMs, () => end());
    socket.once('connect', () => end());
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') return end('the connection is refused');
      end(error.code === 'ENOTFOUND' ? `the name "${host}" is not known` : error.message);
    });
  });
}
