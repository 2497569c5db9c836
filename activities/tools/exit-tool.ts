import type { ToolSpec } from './tools';

/** Offered by agents with `exitTool`; the kernel itself answers it. */
export const exitToolSpec: ToolSpec = {
  name: 'exit',
  description: 'Ends the conversation with a final result.',
  inputSchema: {
    type: 'object',
    properties: { final_result: { type: 'string', description: 'The final result.' } },
    required: ['final_result'],
    additionalProperties: false,
  },
};
