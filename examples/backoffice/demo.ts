/** Arguments: milliseconds of a model's answer, requests at a time, and tickets of a night. */
import { once } from 'node:events';
import { openOffice, ticketOf } from './open-office';

const [callMs = 500, atOnce = 5, tickets = 200] = process.argv.slice(2).map(Number);

async function main(): Promise<void> {
  const { service, key, send, close } = await openOffice({
    callMs,
    atOnce,
    tickets,
    onSlack: (lines) => console.log(`\nSlack:\n  ${lines.join('\n  ')}`),
  });
  console.log(`
Open. The shop sends a ticket, and Slack shows who decides about the refund. Settle a night, in another terminal:
  export HOLDFAST_URL=${service} HOLDFAST_KEY=${key}
  npx holdfast schedules run night
See the night, what waits for you, and what became of the tickets:
  npx holdfast batches list
  npx holdfast inbox
  npx jiti examples/backoffice/results.ts results.jsonl
Ctrl-C closes the office.`);
  await send(ticketOf(250));
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await close();
}

void main();
