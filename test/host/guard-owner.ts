/** A process of its own: starts a guarded command, prints the id, and waits for the kill. */
import { startGuarded } from '../../host/server/guarded-process';

async function main(): Promise<void> {
  const { command, options } = JSON.parse(process.argv[2] ?? '{}') as { command: string; options: Parameters<typeof startGuarded>[2] };
  const { pid } = await startGuarded('/bin/sh', ['-c', command], options);
  process.stdout.write(`${pid}\n`);
  setInterval(() => undefined, 60_000);
}

void main();
