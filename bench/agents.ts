import type { AgentMiddleware } from '../workflows/index';
import { approval, contextEditing, estimateTokens, summarization } from '../middleware/index';
import { defineAgent, onWorker } from '../workflows/index';

const model = 'bench/model';

export const worker = defineAgent({
  name: 'worker',
  description: 'Works.',
  instructions: 'You work.',
  model,
  tools: ['look', 'words'],
  maxIterations: 10_000,
});

/** Its messages are kept short: results are cleared, and then all is summarized. */
export const compacted = defineAgent({
  name: 'compacted',
  description: 'Works for long.',
  instructions: 'You work.',
  model,
  tools: ['look', 'words'],
  maxIterations: 10_000,
  middleware: [
    contextEditing({ triggerTokens: 10_000, keep: 4, clearAtLeastTokens: 2000, tokenCounter: ({ messages }) => estimateTokens(messages) }),
    summarization({
      model: 'bench/summary',
      trigger: { tokens: 20_000 },
      keepMessages: 4,
      tokenCounter: ({ messages }) => estimateTokens(messages),
    }),
  ],
});

export const layers = 10;

/** Does nothing, on both halves. */
function empty(position: number): AgentMiddleware {
  return {
    ...onWorker(`empty${position}`),
    beforeAgent: () => undefined,
    beforeModelRewriteState: () => undefined,
    wrapModel: (request, next) => next(request),
    afterModelRewriteState: () => undefined,
    wrapToolCall: (call, next) => next(call),
    afterToolCalls: () => undefined,
    afterAgent: () => undefined,
  };
}

export const layered = defineAgent({
  name: 'layered',
  description: 'Works under middlewares.',
  instructions: 'You work.',
  model,
  tools: ['look', 'words'],
  maxIterations: 10_000,
  middleware: Array.from({ length: layers }, (_, position) => empty(position)),
});

export const careful = defineAgent({
  name: 'careful',
  description: 'Asks.',
  instructions: 'You ask.',
  model,
  tools: ['refund'],
  middleware: [approval({ tools: { refund: true } })],
});

/** Works for some turns, and then asks. */
export const carefulWorker = defineAgent({
  name: 'carefulWorker',
  description: 'Works, and asks.',
  instructions: 'You work, and ask.',
  model,
  tools: ['words', 'refund'],
  maxIterations: 10_000,
  middleware: [approval({ tools: { refund: true } })],
});

export const talks = defineAgent({ name: 'talks', description: 'Talks.', instructions: 'You talk.', model, tools: [] });
