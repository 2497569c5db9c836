import { openOffice } from '../examples/backoffice/open-office';
import { rounded } from './report/numbers';

const tickets = 200;
const night = '2026-11-23';

interface Seen {
  readonly requests: number;
  readonly answered: number;
  readonly refused: number;
  readonly mostAtOnce: number;
  readonly firstAt: number;
  readonly lastAt: number;
}

interface Waiting {
  readonly run: string;
  readonly interrupt: string;
}

async function asked<T>(url: string, body?: object): Promise<T> {
  const init = body === undefined ? {} : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  return (await (await fetch(url, init)).json()) as T;
}

/**
 * A night of the back office, in real processes: 200 tickets, of which a person approves some as soon as they wait. How much longer it took than a provider
 * makes necessary that takes five requests at a time. Arguments: how long an answer takes in milliseconds.
 */
export async function benchOffice([ms = '500']: readonly string[] = []): Promise<object> {
  const callMs = Number(ms);
  const atOnce = 5;
  const office = await openOffice({ callMs, atOnce });
  try {
    const began = Date.now();
    let settled = false;
    const batch = office.run('night', office.office, night, String(tickets)).finally(() => (settled = true));
    let approvals = 0;
    while (!settled) {
      const { waiting } = await asked<{ waiting: readonly Waiting[] }>(`${office.office}/inbox`);
      for (const { run, interrupt } of waiting) {
        await asked(`${office.office}/inbox/${run}/${interrupt}`, { approved: true, by: 'ada' });
        approvals += 1;
      }
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
    const { text } = await batch;
    const tookMs = Date.now() - began;
    const seen = await asked<Seen>(office.model.replace('/v1', '/report'));
    const { payments, keys } = await asked<{ payments: number; keys: number }>(`${office.bank}/report`);
    const necessaryMs = (seen.answered / atOnce) * callMs;
    return {
      settled: text.trimEnd().split('\n').at(-1),
      payments,
      keys,
      approvals,
      ...{ requests: seen.requests, refused: seen.refused, mostAtOnce: seen.mostAtOnce },
      callMs,
      necessaryMs,
      modelMs: seen.lastAt - seen.firstAt,
      timesNecessary: rounded((seen.lastAt - seen.firstAt) / necessaryMs),
      // Also with the starts of 200 runs before, and their last steps behind.
      batchMs: tookMs,
      batchTimesNecessary: rounded(tookMs / necessaryMs),
    };
  } finally {
    await office.close();
  }
}
