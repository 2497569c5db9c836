import type { ServerHttp2Session } from 'node:http2';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { HoldfastClient } from '../../../client/index';
import type { HoldfastError } from '../../../contract/errors';
import { messageOf } from '../../../contract/errors';
import { connectTemporal } from '../../../host/connection';
import { createLogger } from '../../../host/logger';
import { createApp } from '../../../service/http/app';
import { Findings } from '../../../worker/builds/findings';

async function mute(): Promise<{ readonly address: string; close(): void }> {
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer();
  server.on('session', (session) => sessions.add(session));
  server.on('stream', (stream, headers) => {
    stream.resume();
    stream.on('error', () => undefined);
    const path = String(headers[':path']);
    const answers = path.endsWith('/GetSystemInfo') ? '0' : path.endsWith('/DescribeWorkerDeployment') ? '14' : undefined;
    if (answers === undefined) return;
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': answers }));
    stream.end(answers === '0' ? Buffer.alloc(5) : undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): void => {
    for (const session of sessions) session.destroy();
    server.close();
  };
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

describe('a server that does not answer', () => {
  it('is named with its address by client, service and worker', async () => {
    const server = await mute();
    const connection = await connectTemporal({ address: server.address, namespace: 'default' });
    const client = new HoldfastClient(connection);
    const expected = { code: 'server-unreachable', message: `The Temporal server at ${server.address} does not answer.` };
    try {
      const soon = <T>(run: () => Promise<T>): Promise<T> => client.withDeadline(Date.now() + 300, run);
      await Promise.all([
        expect(soon(() => client.run('r').view())).rejects.toMatchObject(expected),
        expect(soon(() => client.start('a' as never, {}))).rejects.toMatchObject(expected),
      ]);

      const app = createApp({ client, agents: [], logger: createLogger({ write: () => undefined }), patienceMs: 300 });
      for (const path of ['/runs/r', '/runs/r/interrupts'])
        expect(await (await app.request(path)).json()).toMatchObject({ error: expected });

      const told: HoldfastError[] = [];
      const findings = new Findings((problem) => told.push(problem));
      const { workflowService } = connection.connection;
      const look = (): Promise<unknown> =>
        findings.during({
          name: 'builds',
          failed: 'Builds could not be looked up',
          work: () => soon(() => workflowService.describeWorkerDeployment({})),
        });
      await look();
      await look();
      expect(told.map(messageOf)).toEqual([`Builds could not be looked up: ${expected.message}`]);
    } finally {
      await client.close();
      server.close();
    }
  });
});
