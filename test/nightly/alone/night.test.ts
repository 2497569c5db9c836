import { join } from 'node:path';
import type * as Opening from '../../../examples/backoffice/open-office';

const root = join(__dirname, '..', '..', '..');
// The processes run the compiled files.
// eslint-disable-next-line @typescript-eslint/no-require-imports -- what is compiled has no place among the sources
const { openOffice } = require(join(root, 'dist', 'examples', 'backoffice', 'open-office.js')) as typeof Opening;

const tickets = 200;
const callMs = 500;
const atOnce = 5;

interface Report {
  readonly answered: number;
  readonly refused: number;
  readonly firstAt: number;
  readonly lastAt: number;
}

async function asked<T>(url: string, init?: RequestInit): Promise<T> {
  return (await (await fetch(url, init)).json()) as T;
}

async function approveAll(office: string, until: () => boolean): Promise<void> {
  while (!until()) {
    const { waiting } = await asked<{ waiting: readonly { readonly run: string; readonly interrupt: string }[] }>(`${office}/inbox`);
    for (const { run, interrupt } of waiting)
      await fetch(`${office}/inbox/${run}/${interrupt}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ approved: true, by: 'ada' }),
      });
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

describe('the night of the back office, on a provider that takes five requests at a time', () => {
  it('takes at most 1.2 times as long as the limit of the provider makes necessary', async () => {
    const office = await openOffice({ callMs, atOnce });
    try {
      let isOver = false;
      const batch = office.run('night', office.office, '2026-11-24', String(tickets)).finally(() => (isOver = true));
      await approveAll(office.office, () => isOver);
      const { code, text } = await batch;
      expect({ code, last: text.trimEnd().split('\n').at(-1) }).toEqual({ code: 0, last: `settled ${tickets} of ${tickets}` });
      const { answered, refused, firstAt, lastAt } = await asked<Report>(office.model.replace('/v1', '/report'));
      expect({ answered, refused }).toEqual({ answered: tickets * 4, refused: 0 });
      const necessaryMs = (answered * callMs) / atOnce;
      const ratio = (lastAt - firstAt) / necessaryMs;
      console.info(`The night took ${Math.round((lastAt - firstAt) / 1000)} s, ${ratio.toFixed(2)} times what is necessary.`);
      expect(ratio).toBeLessThanOrEqual(1.2);
    } finally {
      await office.close();
    }
  }, 600_000);
});
