import { setTimeout as delay } from 'node:timers/promises';
import { ServiceClient } from 'holdfast/http';
import type { Office } from '../../examples/backoffice/open-office';

/** Settles the tickets of a night, and returns the batch at its end. */
export async function settledNight({ service, key, command }: Office) {
  const holdfast = new ServiceClient(service, { key });
  const earlier = (await holdfast.batches()).batches.length;
  const { code, text } = await command('schedules', 'run', 'night');
  if (code !== 0) throw new Error(text);
  for (;;) {
    const { batches } = await holdfast.batches();
    const [batch] = batches;
    if (batch !== undefined && batches.length > earlier && batch.status !== 'running') return holdfast.batch(batch.id);
    // More questions would slow the night down.
    await delay(1000);
  }
}

/** Opens the link of a message in Slack, as a person does. Returns the order. */
export async function decideByLink(lines: readonly string[], decisionAbout: (order: string) => 'approve' | 'reject'): Promise<string> {
  const [, order = ''] = /"order":"(\d+)"/.exec(lines.join()) ?? [];
  const link = lines.find((line) => line.includes('/decide/')) ?? '';
  const response = await fetch(link, { method: 'POST', body: new URLSearchParams({ decision: decisionAbout(order) }) });
  if (!response.ok) throw new Error(await response.text());
  return order;
}
