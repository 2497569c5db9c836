/** May be started again for the same night: finds the runs and starts no second run. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Ticket } from './jobs';

const [office = 'http://127.0.0.1:4000', night = new Date().toISOString().slice(0, 10), count = '200'] = process.argv.slice(2);
const handedOverAtOnce = 10;

function ticketOf(number: number): Ticket {
  const wish = number % 3 === 0 ? 'voucher' : 'refund';
  return { ticket: `${night}-${number}`, order: String(number), wish, text: `The parcel of order ${number} arrived broken.` };
}

async function handOver(number: number): Promise<void> {
  const response = await fetch(`${office}/tickets`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...ticketOf(number), night }),
  });
  if (!response.ok) throw new Error(`Ticket ${number} was refused: ${await response.text()}`);
}

async function main(): Promise<void> {
  const numbers = Array.from({ length: Number(count) }, (_, n) => n + 1);
  const left = numbers.values();
  const handing = async (): Promise<void> => {
    for (const number of left) await handOver(number);
  };
  await Promise.all(Array.from({ length: handedOverAtOnce }, handing));
  console.log(`handed over ${numbers.length} tickets`);
  let said = '';
  for (;;) {
    const { counts } = (await (await fetch(`${office}/nights/${night}`)).json()) as { counts: Readonly<Record<string, number>> };
    const line = Object.entries(counts)
      .map(([status, many]) => `${many} ${status}`)
      .join(', ');
    if (line !== said) console.log((said = line));
    // A run that has just begun may not be listed yet.
    const ended = (counts['completed'] ?? 0) + (counts['failed'] ?? 0) + (counts['cancelled'] ?? 0);
    if (ended === numbers.length) {
      console.log(`settled ${counts['completed'] ?? 0} of ${numbers.length}`);
      process.exitCode = counts['completed'] === numbers.length ? 0 : 1;
      return;
    }
    await delay(1000);
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
