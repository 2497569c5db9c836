import { defineConfig } from 'holdfast';
import { Ticket } from './jobs';
import { startOf } from './orders';
import { tools } from './tools';

const { SHOP_URL = 'http://127.0.0.1:4001', SHOP_SECRET, NOTICES_URL = 'http://127.0.0.1:4100', NOTICE_SECRET } = process.env;

export default defineConfig({
  agents: './agents.ts',
  tools,
  models: {
    names: { default: ['anthropic/claude-sonnet-4-5', 'openai/gpt-5-mini', 'openai-compatible/office'] },
    // The contract's limit: two hundred runs of a night wait for their turn, and no request is refused.
    limits: { '*': { concurrent: 5 } },
  },
  // The shop sends a ticket that must not wait for the night.
  triggers: {
    tickets: {
      from: 'standard',
      secrets: SHOP_SECRET,
      start: ({ payload }) => ({ agent: 'clerk', ...startOf(Ticket.parse(payload)) }),
    },
  },
  schedules: {
    night: {
      cron: '0 2 * * *',
      zone: 'Europe/Berlin',
      batch: {
        agent: 'clerk',
        lines: async () =>
          Ticket.array()
            .parse(await (await fetch(`${SHOP_URL}/tickets`)).json())
            .map(startOf),
      },
    },
  },
  notify: [{ to: NOTICES_URL, secret: NOTICE_SECRET, on: ['waiting', 'failed', 'stuck'], private: true, people: () => [{ user: 'ada' }] }],
  access: {},
  feed: {},
});
