/** A process of its own: starts an embedded server, reports on stdout, and stops the server when stdin ends. */
import { startEmbeddedServer } from '../../host/server/embedded-server';
import { codeOf, messageOf } from '../../contract/errors';

async function main(): Promise<void> {
  const options = JSON.parse(process.argv[2] ?? '{}') as Parameters<typeof startEmbeddedServer>[0];
  try {
    const server = await startEmbeddedServer(options);
    process.stdout.write(`${JSON.stringify(server)}\n`);
    process.stdin.resume().on('end', () => void server.stop().then(() => process.exit(0)));
  } catch (error) {
    process.stdout.write(`${JSON.stringify({ failed: codeOf(error) ?? messageOf(error) })}\n`);
    process.exit(1);
  }
}

void main();
