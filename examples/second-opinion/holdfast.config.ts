import { defineConfig } from 'holdfast';
import { tools } from './tools';

export default defineConfig({
  agents: './agents.ts',
  tools,
  models: { names: { default: ['anthropic/claude-sonnet-4-5', 'openai/gpt-5-mini', 'google/gemini-2.5-flash'] } },
  example: { agent: 'secondOpinion', input: 'May we pay 120 without a bill?' },
});
