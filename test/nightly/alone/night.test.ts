import { openOffice } from '../../../examples/backoffice/open-office';
import { decideByLink, settledNight } from '../../support/office-night';

const tickets = 200;
const callMs = 500;
const atOnce = 5;

describe('the night of the back office, on a provider that takes five requests at a time', () => {
  it('takes at most 1.2 times as long as the limit of the provider makes necessary', async () => {
    const office = await openOffice({ callMs, atOnce, tickets, onSlack: (lines) => void decideByLink(lines, () => 'approve') });
    try {
      expect(await settledNight(office)).toMatchObject({ lines: tickets, counts: { completed: tickets } });
      const { answered, refused, firstAt, lastAt } = office.model;
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
