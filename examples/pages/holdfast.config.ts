import { defineConfig } from 'holdfast';
import support from '../support/holdfast.config';

/** The agents of `examples/support`, for pages of another origin. */
export default defineConfig({
  ...support,
  agents: '../support/agents.ts',
  http: { origins: [process.env['PAGES_ORIGIN'] ?? 'http://127.0.0.1:5173'] },
});
