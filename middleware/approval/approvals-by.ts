import { checkOptions, isFilled, oneOf, refusing } from '../../contract/check';
import { shown } from '../../contract/shown';
import type { ToolCall } from '../../contract/messages/messages';
import { insideOf } from '../../kernel/define/inside';
import type { AgentMiddleware, Tools } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';
import type { Edits } from './changed-calls';
import { holding } from './held-calls';
import type { Plan } from './stage-state';

export interface ApprovalsByOptions {
  /** What the model hears of a changed call. Default: `tell`. */
  readonly edits?: Edits;
}

/**
 * Holds the calls that a policy of the configuration holds. A worker decides each call, so the policy may change during runs.
 * @example
 * export const support = defineAgent({
 *   name: 'support',
 *   description: 'Issues refunds.',
 *   instructions: 'You are a careful support agent.',
 *   model: 'default',
 *   tools: ['refund'],
 *   middleware: [approvalsBy('refunds')],
 * });
 */
export function approvalsBy<T extends Tools = Tools>(policy: string, options: ApprovalsByOptions = {}): AgentMiddleware<T> {
  if (!isFilled(policy)) refusing('approvalsBy')(`it takes the name of a policy of the configuration, not ${shown(policy)}.`);
  const { edits = 'tell' } = checkOptions<ApprovalsByOptions>('approvalsBy', options, { edits: oneOf('tell', 'rewrite', 'hide') });
  const middleware: AgentMiddleware<T> = {
    name: policy,
    ...holding(policy, edits, async (call, ctx) => {
      const inside = insideOf(ctx);
      const planOf = async (asked: ToolCall): Promise<Plan> => ({
        ...(await inside.planOf(policy, asked)),
        name: policy,
        isConfigured: true,
      });
      const plan = await planOf(call);
      return plan.holds ? { plan, planOf } : undefined;
    }),
  };
  return withTraits(middleware, { offersTools: [], asksPolicy: policy });
}
