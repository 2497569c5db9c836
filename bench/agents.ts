import type { AgentMiddleware } from '../workflows/index';
import { approval, defineAgent, onWorker } from '../workflows/index';

const model = 'bench/model';

export const worker = defineAgent({
  name: 'worker',
  description: 'Works.',
  instructions: 'You work.',
  model,
  tools: ['look', 'words'],
  maxIterations: 10_000,
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

export const talks = defineAgent({ name: 'talks', description: 'Talks.', instructions: 'You talk.', model, tools: [] });
