import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'holdfast';
import desk from './holdfast.config';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const say = JSON.stringify({ say: 'Done.', calls: [] });

/** Deliveries are kept until the file `corrected` is in the data folder. */
export default defineConfig({
  ...desk,
  schedules: {
    night: { cron: '0 2 1 1 *', zone: 'Europe/Berlin', start: { agent: 'support', input: say } },
    pulse: { every: '8760h', overlap: 'allow-all', start: { agent: 'payments', input: say } },
  },
  triggers: {
    orders: {
      from: 'standard',
      secrets: secret,
      start: ({ id }) => {
        if (!existsSync(join(process.env['HOLDFAST_DIR'] ?? '', 'corrected'))) throw new Error(`There is no order in the delivery ${id}.`);
        return { agent: 'support', input: say };
      },
    },
  },
  notify: [{ to: process.env['RECEIVER'] ?? '', secret, on: ['completed'], agents: ['payments'], private: true }],
});
