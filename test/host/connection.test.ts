import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { connect as connectClient } from '../../client/connect';
import { codeOf } from '../../contract/errors';
import { readConfiguration } from '../../host/configuration';
import { connectNative, connectTemporal, nativeConnectionOptions, type TemporalSettings } from '../../host/connection';
import { startEmbeddedServer, type EmbeddedServer } from '../../host/server/embedded-server';
import { freePort } from '../../host/server/free-port';
import { checkSearchAttributes } from '../../host/search-attributes';
import { makeCertificates, type Certificates } from '../host/certificates';
import { temporaryDirectory } from '../host/temporary-directory';

jest.setTimeout(60_000);

let server: EmbeddedServer;
let certificates: Certificates;
const open: Server[] = [];

beforeAll(async () => {
  certificates = makeCertificates(temporaryDirectory());
  server = await startEmbeddedServer({ directory: temporaryDirectory() });
});
afterAll(async () => {
  for (const listener of open) listener.close();
  await server.stop();
});

async function listening<T extends Server>(listener: T): Promise<string> {
  open.push(listener);
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return `127.0.0.1:${(listener.address() as AddressInfo).port}`;
}

function settingsFrom(variables: Record<string, string>): TemporalSettings {
  const { server: settings } = readConfiguration({ HOME: temporaryDirectory(), ...variables });
  if (settings === undefined) throw new Error('no server is configured');
  return settings;
}

describe('a server behind TLS', () => {
  function tlsProxy(): Promise<string> {
    const [port] = server.address.split(':').slice(-1);
    const pem = {
      cert: readFileSync(certificates.server.cert),
      key: readFileSync(certificates.server.key),
      ca: readFileSync(certificates.authority),
    };
    const proxy = createTlsServer({ ...pem, requestCert: true, rejectUnauthorized: true, ALPNProtocols: ['h2'] }, (socket) => {
      const upstream = connect(Number(port), '127.0.0.1');
      socket.on('error', () => upstream.destroy()).pipe(upstream);
      upstream.on('error', () => socket.destroy()).pipe(socket);
    });
    return listening(proxy);
  }

  it('serves client and worker that know its authority and bring a certificate', async () => {
    const settings = settingsFrom({
      TEMPORAL_ADDRESS: await tlsProxy(),
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: certificates.authority,
      TEMPORAL_TLS_SERVER_NAME: 'temporal.test',
      TEMPORAL_TLS_CLIENT_CERT_PATH: certificates.client.cert,
      TEMPORAL_TLS_CLIENT_KEY_DATA: readFileSync(certificates.client.key, 'utf8'),
    });
    const { connection, namespace, close } = await connectTemporal(settings);
    const handle = await new Client({ connection, namespace }).workflow.start('nobody', { workflowId: 'over-tls', taskQueue: 'empty' });
    expect((await handle.describe()).status.name).toBe('RUNNING');
    await close();
    const native = await connectNative(settings, NativeConnection);
    await native.close();
  });

  it.each([
    ['its authority', {}],
    ['a client certificate', { TEMPORAL_TLS_SERVER_CA_CERT_PATH: 'authority' }],
  ])('is unreachable without %s, with the reason', async (_what, variables) => {
    const named =
      'TEMPORAL_TLS_SERVER_CA_CERT_PATH' in variables
        ? { ...variables, TEMPORAL_TLS_SERVER_CA_CERT_PATH: certificates.authority }
        : variables;
    const address = await tlsProxy();
    const settings = settingsFrom({
      TEMPORAL_ADDRESS: address,
      TEMPORAL_TLS: 'true',
      TEMPORAL_TLS_SERVER_NAME: 'temporal.test',
      ...(named as Record<string, string>),
    });
    const error = (await connectTemporal(settings, { deadlineMs: 1_500 }).catch((thrown: unknown) => thrown)) as {
      code: string;
      message: string;
    };
    expect(error.code).toBe('server-unreachable');
    expect(error.message).toContain(`${address} over TLS`);
    expect(error.message).toMatch(/certificate|ECONNRESET|alert|closed|dropped/i);
  });
});

describe('an API key', () => {
  it('is sent by client and worker as a bearer token over TLS', async () => {
    const seen: (string | undefined)[] = [];
    const address = await listening(emptyAnswers(seen));
    const settings = settingsFrom({
      TEMPORAL_ADDRESS: address,
      TEMPORAL_API_KEY: 'key-of-the-team',
      TEMPORAL_TLS_SERVER_CA_CERT_DATA: readFileSync(certificates.authority, 'utf8'),
      TEMPORAL_TLS_SERVER_NAME: 'temporal.test',
    });
    await (await connectTemporal(settings)).close();
    await (await connectNative(settings, NativeConnection)).close();
    expect(seen.length).toBeGreaterThanOrEqual(2);
    expect(new Set(seen)).toEqual(new Set(['Bearer key-of-the-team']));
  });

  function emptyAnswers(seen: (string | undefined)[]): Http2SecureServer {
    const grpc = createSecureServer({ cert: readFileSync(certificates.server.cert), key: readFileSync(certificates.server.key) });
    grpc.on('stream', (stream, headers) => {
      seen.push(headers.authorization);
      stream.resume();
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(Buffer.alloc(5));
    });
    return grpc;
  }
});

describe('no server', () => {
  it('is server-unreachable for client and worker, naming the address', async () => {
    const settings = { address: `127.0.0.1:${await freePort()}`, namespace: 'default' };
    const expected = { code: 'server-unreachable', message: expect.stringContaining(settings.address) };
    await expect(connectTemporal(settings, { deadlineMs: 700 })).rejects.toMatchObject({
      ...expected,
      message: expect.stringMatching(/refused/),
    });
    await expect(connectNative(settings, NativeConnection, { deadlineMs: 700 })).rejects.toMatchObject(expected);
  });

  it('is server-unreachable also when somebody accepts and never answers', async () => {
    const accepted: Socket[] = [];
    const silent = createServer((socket) => void accepted.push(socket.on('error', () => undefined)));
    const settings = { address: await listening(silent), namespace: 'default' };
    await expect(connectTemporal(settings, { deadlineMs: 700 })).rejects.toMatchObject({ code: 'server-unreachable' });
    await expect(connectNative(settings, NativeConnection, { deadlineMs: 700 })).rejects.toMatchObject({ code: 'server-unreachable' });
    for (const socket of accepted) socket.destroy();
  });
});

describe('options of a worker', () => {
  it('switch compression off on loopback only', () => {
    expect(nativeConnectionOptions({ address: 'localhost:7233', namespace: 'n' })).toEqual({
      address: 'localhost:7233',
      grpcCompression: { codec: 'none' },
    });
    expect(nativeConnectionOptions({ address: 'cluster:7233', namespace: 'n' })).toEqual({ address: 'cluster:7233' });
  });
});

describe('search attributes', () => {
  it('are missed in a namespace of others, with the command that registers them', async () => {
    const { connection, close } = await connectTemporal({ address: server.address, namespace: 'default' });
    const namespace = 'temporal-system';
    await expect(checkSearchAttributes(connection, namespace)).rejects.toMatchObject({
      code: 'search-attribute-missing',
      message: expect.stringContaining(
        `temporal operator search-attribute create --address ${server.address} --namespace ${namespace} --name HoldfastAgent --type Keyword --name HoldfastTenant --type Keyword`,
      ),
    });
    await expect(checkSearchAttributes(connection, 'nowhere')).rejects.toMatchObject({
      message: expect.stringContaining("no namespace 'nowhere'"),
    });
    await close();
  });
});

it('a client says which search attributes its namespace lacks, of starts and of lists', async () => {
  const client = await connectClient({ server: { address: server.address, namespace: 'temporal-system' } });
  const missing = { code: 'search-attribute-missing', message: expect.stringContaining('temporal operator search-attribute create') };
  await expect(client.start('support', 'Hi', { by: 'ada' })).rejects.toMatchObject(missing);
  await expect(client.list({ startedBy: 'ada' })).rejects.toMatchObject(missing);
  await client.close();
});

it('a client says with a code that its server has gone', async () => {
  const own = await startEmbeddedServer({ directory: temporaryDirectory() });
  const client = await connectClient({ server: { address: own.address, namespace: 'default' } });
  await own.stop();
  const run = client.run('a');
  const asked = [
    () => client.start('plain', 'Hi'),
    () => client.list(),
    () => run.view(),
    () => run.outcome(),
    () => run.result(),
    () => run.cancel(),
  ];
  const codes = asked.map((ask) =>
    client.withDeadline(Date.now() + 1500, ask).then(
      () => 'was answered',
      (error: unknown) => codeOf(error) ?? error,
    ),
  );
  expect(await Promise.all(codes)).toEqual(asked.map(() => 'server-unreachable'));
  await client.close();
});
