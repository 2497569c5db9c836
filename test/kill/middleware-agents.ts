import type { AgentMiddleware } from '../../workflows/index';
import {
  agentsFor,
  budget,
  modelCallLimit,
  modelFallback,
  modelRetry,
  pii,
  responseCache,
  toolCallLimit,
  toolRetry,
  toolSelector,
} from '../../workflows/index';
import type { rowTools } from './middleware-tools';

/** An agent for each built-in middleware, by the name of its row in `middleware-rows.ts`. */
const { defineAgent } = agentsFor<typeof rowTools>();

const agentWith = <const Name extends string>(name: Name, ...middleware: readonly AgentMiddleware[]) =>
  defineAgent({
    name,
    description: 'Has a built-in middleware.',
    instructions: 'You are a test.',
    model: `test/${name}`,
    tools: ['echo', 'flaky', 'contact'],
    middleware,
  });

const soon = { first: '10ms' };

export const modelCallLimited = agentWith('modelCallLimit', modelCallLimit({ perRun: 3 }));
export const toolCallLimited = agentWith('toolCallLimit', toolCallLimit({ tools: ['echo'], perRun: 2 }));
export const budgeted = agentWith('budget', budget({ tokens: 2000, whenSpent: 'ask' }));
export const cheaper = agentWith(
  'budgetCheaper',
  budget({
    money: 1,
    prices: { 'test/budgetCheaper': { input: 500, output: 500 }, '*': { input: 1, output: 1 } },
    whenSpent: { model: 'test/budgetCheaper-small', more: { money: 1 } },
  }),
);
export const redacted = agentWith('pii', pii({ email: 'redact', creditCard: 'mask', ip: 'hash' }));
export const retried = agentWith('modelRetry', modelRetry({ backoff: soon }));
export const givesUp = agentWith(
  'modelRetryGivesUp',
  modelRetry({ attempts: 2, backoff: soon, whenExhausted: { answer: 'Try again later.' } }),
);
export const fallingBack = agentWith('modelFallback', modelFallback({ models: ['test/modelFallback-second'] }));
export const toolRetried = agentWith('toolRetry', toolRetry({ backoff: soon }));
export const selected = agentWith('toolSelector', toolSelector({ model: 'test/toolSelector-chooser', maxTools: 2 }));
export const cached = agentWith('responseCache', responseCache());
