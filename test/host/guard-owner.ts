/** Runs as a process of its own: starts a guarded command as its argument says, says its id, and waits to be killed. */
import { startGuarded } from '../../host/server/guarded-process';

async function main(): Promise<void> {
  const { command, options } = JSON.parse(process.argv[2] ?? '{}') as { command: string; options: Parameters<typeof startGuarded>[2] };
  const { pid } = await startGuarded('/bin/sh', ['-c', command], options);
  process.stdout.write(`${pid}\n`);
  setInterval(() => undefined, 60_000);
}

void main();
