import { createServer } from 'node:net';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HoldfastError } from '../../contract/errors';
import { searchAttributes } from '../../contract/names';
import { connectTemporal } from '../../host/connection';
import { startEmbeddedServer, type EmbeddedServer } from '../../host/server/embedded-server';
import { checkSearchAttributes } from '../../host/search-attributes';
import { startOwner, untilGone } from './owner-process';
import { temporaryDirectory } from './temporary-directory';

jest.setTimeout(60_000);

const servers: EmbeddedServer[] = [];
async function start(options: Parameters<typeof startEmbeddedServer>[0]): Promise<EmbeddedServer> {
  const server = await startEmbeddedServer(options);
  servers.push(server);
  return server;
}
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function withConnection<T>(
  server: { address: string; namespace: string },
  use: (temporal: Awaited<ReturnType<typeof connectTemporal>>) => Promise<T>,
): Promise<T> {
  const temporal = await connectTemporal(server);
  try {
    return await use(temporal);
  } finally {
    await temporal.close();
  }
}

describe('an embedded server', () => {
  it.each([['default'], ['agents']])('answers in namespace %s with 30 days of retention and all search attributes', async (namespace) => {
    const server = await start({ directory: temporaryDirectory(), namespace });
    await withConnection(server, async ({ connection }) => {
      const { config } = await connection.workflowService.describeNamespace({ namespace });
      expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(30 * 24 * 60 * 60);
      await checkSearchAttributes(connection, namespace);
      const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
      expect(Object.keys(customAttributes ?? {})).toEqual(expect.arrayContaining(Object.keys(searchAttributes)));
    });
  });

  it('runs beside another one, each on ports of its own', async () => {
    const [first, second] = await Promise.all([
      start({ directory: temporaryDirectory(), uiPort: 0 }),
      start({ directory: temporaryDirectory(), uiPort: 0 }),
    ]);
    expect(first.address).not.toBe(second.address);
    expect(first.uiAddress).not.toBe(second.uiAddress);
    await Promise.all([first, second].map((server) => withConnection(server, ({ connection }) => connection.healthService.check({}))));
  });

  it('refuses a port that somebody else listens on, and does not take the stranger for its server', async () => {
    const stranger = await start({ directory: temporaryDirectory() });
    const port = Number(stranger.address.split(':')[1]);
    await expect(startEmbeddedServer({ directory: temporaryDirectory(), port })).rejects.toMatchObject({
      code: 'port-in-use',
      message: expect.stringContaining(String(port)),
    });
    const listener = createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const uiPort = (listener.address() as { port: number }).port;
    await expect(startEmbeddedServer({ directory: temporaryDirectory(), uiPort })).rejects.toMatchObject({
      code: 'port-in-use',
    });
    listener.close();
  });

  it('is gone after stop, and its record with it', async () => {
    const directory = temporaryDirectory();
    const server = await startEmbeddedServer({ directory });
    expect(existsSync(join(directory, 'server.json'))).toBe(true);
    await server.stop();
    await server.stop();
    await untilGone(server.pid, 0);
    expect(existsSync(join(directory, 'server.json'))).toBe(false);
  });

  it('tells its owner when it ends on its own, with the end of its log, and the directory can be used again', async () => {
    const directory = temporaryDirectory();
    const error = await new Promise<HoldfastError>((resolve, reject) => {
      startEmbeddedServer({ directory, onExit: resolve }).then((server) => process.kill(server.pid, 'SIGKILL'), reject);
    });
    expect(error).toMatchObject({
      code: 'server-failed',
      message: expect.stringMatching(/stopped with code 137\. Its log(, .*server\.log, is empty| ends: )/) as string,
    });
    expect((await start({ directory })).reused).toBe(false);
  });

  it('says what the server said when it does not start', async () => {
    const failing = startEmbeddedServer({ directory: temporaryDirectory(), namespace: '' });
    await expect(failing).rejects.toMatchObject({ code: 'server-failed' });
  });

  it.each([
    [{}, '400 1GiB'],
    [{ GOGC: '50' }, '50 1GiB'],
  ])('collects less often than Go would, unless somebody says how: %j', async (said, settings) => {
    const binary = join(temporaryDirectory(), 'temporal');
    writeFileSync(
      binary,
      '#!/bin/sh\n[ "$1" = --version ] && echo "temporal version 1.9.1 (Server 1.31.0, UI 2.42.1)" || echo "$GOGC $GOMEMLIMIT"\n',
    );
    chmodSync(binary, 0o755);
    const environment = { PATH: process.env['PATH'], HOLDFAST_TEMPORAL_CLI: binary, ...said };
    await expect(startEmbeddedServer({ directory: temporaryDirectory(), environment })).rejects.toMatchObject({
      code: 'server-failed',
      message: expect.stringContaining(`Its log ends: ${settings}`),
    });
  });

  it('keeps its database when callers give up in the middle of queries', async () => {
    const namespace = 'default';
    const server = await start({ directory: temporaryDirectory() });
    await withConnection(server, async ({ connection }) => {
      const { workflowService: service } = connection;
      const execution = { workflowId: 'asked-about' };
      const [workflowType, taskQueue] = [{ name: 'none' }, { name: 'without-workers' }];
      await service.startWorkflowExecution({ ...execution, namespace, requestId: 'once', workflowType, taskQueue });
      const ask = (asked: number): Promise<unknown> =>
        asked % 2 === 0
          ? service.describeWorkflowExecution({ namespace, execution })
          : service.getWorkflowExecutionHistory({ namespace, execution });
      let asked = 0;
      const impatient = async (): Promise<void> => {
        while (asked++ < 8_000) await connection.withDeadline(Date.now() + 1 + (asked % 12), () => ask(asked)).catch(() => undefined);
      };
      await Promise.all(Array.from({ length: 12 }, impatient));
      await connection.withDeadline(Date.now() + 10_000, () => Promise.all([service.listNamespaces({}), ask(0), ask(1)]));
    });
    expect(readFileSync(join(server.database, '..', 'server.log'), 'utf8')).not.toContain('SQLITE_BUSY');
  });

  it('is not reached by the Ctrl-C of a terminal', async () => {
    const owner = await startOwner({ directory: temporaryDirectory() });
    const { pgid, sid } = await sessionOf(owner.server.pid);
    expect(pgid).not.toBe((await sessionOf(owner.process.pid ?? 0)).pgid);
    expect(sid).toBe(pgid);
    await owner.finish();
    await untilGone(owner.server.pid, 0);
  });
});

async function sessionOf(pid: number): Promise<{ pgid: string; sid: string }> {
  const { execFileSync } = await import('node:child_process');
  const [pgid = '', sid = ''] = execFileSync('ps', ['-o', 'pgid=,sess=', '-p', String(pid)], { encoding: 'utf8' })
    .trim()
    .split(/\s+/);
  return { pgid, sid };
}
