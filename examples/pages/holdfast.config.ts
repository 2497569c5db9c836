import { defineConfig } from 'holdfast';
import support from '../support/holdfast.config';

export default defineConfig({
  ...support,
  agents: '../support/agents.ts',
  http: { origins: [process.env['PAGES_ORIGIN'] ?? 'http://127.0.0.1:5173'] },
});
