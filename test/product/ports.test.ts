import { get } from 'node:http';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { presentServerBinary } from '../../host/server/server-binary';
import { freePort, isListening } from '../../host/server/free-port';
import { listeningSockets } from '../support/listening-ports';
import type { Command } from './command';
import { ownCommands, serviceOf } from './command';

const root = resolve(__dirname, '..', '..');
const { directory, start } = ownCommands('ports');
const config = ['--config', join(root, 'examples/support/holdfast.config.ts')];

/** Every listening port needs a row in docs/operations and a safe answer to a DNS-rebinding page. */
const answersToPages = {
  'The service': 'urn:holdfast:error:host-forbidden',
  'gRPC of Temporal': 'nothing',
  'HTTP API of Temporal': 'Host not allowed',
  'Metrics of Temporal': '200 # HELP',
  'Inner services of Temporal': 'nothing',
} as const;
type Port = keyof typeof answersToPages;

async function begun(args: readonly string[], until: string): Promise<Command> {
  const command = start([...args, ...config]);
  await command.seen(until);
  return command;
}

it('dev opens these ports, all on loopback, and a worker beside it opens none', async () => {
  const dev = await begun(['dev', '--no-watch', '--port', '0'], 'Try:');
  const service = Number(new URL(await serviceOf(dev)).port);
  const { address } = JSON.parse(readFileSync(join(directory, 'server.json'), 'utf8')) as { readonly address: string };
  const sockets = listeningSockets(dev.process.pid ?? 0);
  const found = await Promise.all(
    sockets.map(async ({ port }) => {
      const answer = await asPage(port);
      return [nameOf(port, answer), answer.slice(0, 200)] as const;
    }),
  );
  expect(sockets.filter(({ onLoopback }) => !onLoopback)).toEqual([]);
  expect(found.map(([name]) => name).sort()).toEqual([...Object.keys(answersToPages), 'Inner services of Temporal'].sort());
  for (const [name, answer] of found) expect([name, answer]).toEqual([name, expect.stringContaining(answersToPages[name])]);
  const worker = await begun(['worker'], 'Holdfast is ready.');
  expect(listeningSockets(worker.process.pid ?? 0)).toEqual([]);

  function nameOf(port: number, answer: string): Port {
    if (port === service) return 'The service';
    if (`127.0.0.1:${port}` === address) return 'gRPC of Temporal';
    if (answer === 'nothing') return 'Inner services of Temporal';
    return answer.includes('# HELP') ? 'Metrics of Temporal' : 'HTTP API of Temporal';
  }
});

it('serve warns of a development server that answers pages, also if it was found by its address', async () => {
  const port = await freePort();
  const { path = '' } = (await presentServerBinary(process.env)) ?? {};
  const server = spawn(path, ['server', 'start-dev', '--headless', '--port', String(port), '--log-level', 'never'], { stdio: 'ignore' });
  try {
    while (!(await isListening(port))) await new Promise((resolve) => setTimeout(resolve, 50));
    const serving = start(['serve', '--port', '0', ...config], { TEMPORAL_ADDRESS: `localhost:${port}` });
    expect(await serving.complained('server-open')).toContain(`process ${server.pid ?? 0}) has its HTTP API open`);
  } finally {
    server.kill('SIGKILL');
  }
});

it('operations says of each of them who may reach it', () => {
  const page = readFileSync(join(root, 'docs/operations/README.md'), 'utf8');
  const rows = [...page.matchAll(/^\| ([^|]+?) +\|/gm)].map(([, name]) => name);
  expect(rows).toEqual(expect.arrayContaining(Object.keys(answersToPages)));
});

/** `fetch` of Node cannot send another Host header. */
async function asPage(port: number): Promise<string> {
  const answers = await Promise.all(['/runs', '/metrics', '/api/v1/namespaces'].map((path) => askedAs(port, path)));
  return answers.find((answer) => !answer.startsWith('404')) ?? 'nothing';
}

function askedAs(port: number, path: string): Promise<string> {
  return new Promise((said) => {
    const request = get({ port, path, host: '127.0.0.1', headers: { host: `attacker.example:${port}` }, timeout: 5_000 }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => said(`${response.statusCode ?? 0} ${text}`));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => said('404'));
  });
}
