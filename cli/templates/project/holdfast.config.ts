import { defineConfig } from 'holdfast';
import { tools } from './tools';

export default defineConfig({
  agents: './agents.ts',
  tools,
  // The first model with a key. Without a key, `holdfast dev` uses a demo model: a few rules, no AI.
  models: { names: { default: ['anthropic/claude-sonnet-4-5', 'openai/gpt-5-mini', 'google/gemini-2.5-flash'] } },
  example: { agent: 'support', input: 'Refund order 42, it arrived broken' },
});
