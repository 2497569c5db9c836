import { defineConfig } from 'holdfast';
import { tools } from './tools';

export default defineConfig({
  agents: './agents.ts',
  tools,
  models: {
    names: { default: ['anthropic/claude-sonnet-4-5', 'openai/gpt-5-mini', 'openai-compatible/office'] },
    // The contract's limit: two hundred runs of a night wait for their turn, and no request is refused.
    limits: { '*': { concurrent: 5 } },
  },
});
