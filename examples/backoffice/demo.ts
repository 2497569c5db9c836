/** Arguments: milliseconds of a model's answer, and requests at a time. */
import { once } from 'node:events';
import { openOffice } from './open-office';

const [callMs = 500, atOnce = 5] = process.argv.slice(2).map(Number);

async function main(): Promise<void> {
  const { office, holdfast, close } = await openOffice({ callMs, atOnce, onText: (text) => void process.stderr.write(text) });
  console.log(`
Open. Settle a night, in another terminal:
  npx jiti examples/backoffice/night.ts ${office} 2026-11-23 200
See the night, and what waits for you:
  npx holdfast list --tag night=2026-11-23 --url ${holdfast}
  npx holdfast inbox --url ${holdfast}
Ctrl-C closes the office.`);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await close();
}

void main();
