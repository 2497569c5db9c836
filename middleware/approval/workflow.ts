import type { Forms } from '../../contract/check';
import { checkOptions, duration, filled, func, oneOf, refusing, required, shape, someTexts, tableOf, worded } from '../../contract/check';
import { defined } from '../../contract/defined';
import type { ApprovalDecision } from '../../contract/decisions';
import { insideOf } from '../../kernel/define/inside';
import type { AgentMiddleware, InputOf, Tools } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';
import { askingPeople, needsPeople, rejection } from './agreement';
import type { Edits } from './changed-calls';
import { problemOfExpiry } from './policy-options';

export interface ApprovalRule<Input> {
  /** Default: all calls. Only `false` means no: a rule that throws, or returns nothing, means yes. */
  readonly when?: (input: Input) => boolean;
  /** Such as '3d'. Default: for ever. */
  readonly expires?: string;
  /** After `expires`. Default: reject. */
  readonly onExpiry?: 'approve' | 'reject';
  /** Names of people. Default: any client of the service. */
  readonly by?: readonly string[];
}

export interface ApprovalOptions<T extends Tools> {
  /** Only for agents with several approvals. */
  readonly name?: string;
  /**
   * `tell` (default): the result has the new arguments. `rewrite`: the messages show the changed call, and the result tells of the change.
   * `hide`: nothing.
   */
  readonly edits?: Edits;
  /** `NoInfer` types the input, and makes a misspelt tool name an error. */
  readonly tools: { readonly [Name in keyof NoInfer<T>]?: boolean | ApprovalRule<InputOf<NoInfer<T>[Name]>> };
}

/**
 * Holds calls of the named tools until a person has decided about the parsed arguments.
 * @example
 * export const rules = approval<typeof tools>({
 *   tools: {
 *     findOrder: { when: ({ orderId }) => orderId.startsWith('vip-') },
 *     refund: { when: ({ amount }) => amount > 50, expires: '3d', onExpiry: 'reject' },
 *   },
 * });
 */
export function approval<T extends Tools>(options: ApprovalOptions<T>): AgentMiddleware<T> {
  const { name, rules, edits } = checkedOptions(options);
  const middleware: AgentMiddleware<T> = {
    name,
    onlyTools: [...rules.keys()],
    asksAbout: [...rules.keys()],
    ...askingPeople(name, edits, (ctx) => async (call, next, why) => {
      const rule = rules.get(call.name);
      if (rule === undefined) return next(call);
      const waived = `${name}:${call.name}`;
      const { waivers } = insideOf(ctx);
      if (waivers.has(waived) || !needsPeople(rule.when, call.input)) return next(call);
      let problem = why;
      for (;;) {
        const decision = (await ctx.approve(call, {
          onDeadline: {
            type: rule.onExpiry ?? 'reject',
            ...(rule.onExpiry === 'approve' ? {} : { feedback: 'Nobody decided in time.' }),
          },
          ...defined({ deadline: rule.expires, by: rule.by, problem }),
        })) as ApprovalDecision;
        if (decision.type === 'reject') return rejection(call, decision.feedback);
        if (decision.type === 'respond') return decision.output;
        // A wrong edit uses up no decision: the person hears the reason and decides again.
        const parsed = decision.editedInput === undefined ? undefined : await ctx.parse(call.name, decision.editedInput);
        problem = parsed?.ok === false ? parsed.message : undefined;
        if (problem !== undefined) continue;
        if (decision.forRestOfRun === true) waivers.add(waived);
        return next(decision.editedInput === undefined ? call : { ...call, input: decision.editedInput });
      }
    }),
  };
  return withTraits(middleware, { offersTools: [] });
}

const ruleForms: Forms<ApprovalRule<unknown>> = {
  when: worded(func, 'a function of the arguments'),
  expires: duration,
  onExpiry: oneOf('approve', 'reject'),
  by: worded(someTexts, 'an array of at least one name'),
};
const aRule = { wanted: 'true or false, or an object with when, expires, onExpiry or by', problem: ruleProblem };

function ruleProblem(rule: unknown, option: string): string | undefined {
  if (typeof rule === 'boolean') return undefined;
  return shape(ruleForms, aRule.wanted).problem(rule, option) ?? problemOfExpiry(rule as ApprovalRule<unknown>, option);
}

function checkedOptions(given: unknown): {
  readonly name: string;
  readonly edits: Edits;
  readonly rules: ReadonlyMap<string, ApprovalRule<unknown>>;
} {
  const {
    name = 'approval',
    edits = 'tell',
    tools,
  } = checkOptions<ApprovalOptions<Tools>>('approval', given, {
    name: filled,
    edits: oneOf('tell', 'rewrite', 'hide'),
    tools: required(tableOf(aRule, 'a rule for each tool, such as { refund: true }')),
  });
  if (Object.keys(tools).length === 0)
    refusing('approval')(
      'tools has no tool, so it would hold no call. Name one, such as { refund: true }, or leave the approval out; false for a tool says that it needs none.',
    );
  const rules = Object.entries(tools as Readonly<Record<string, boolean | ApprovalRule<unknown>>>).flatMap(
    ([tool, rule]): readonly (readonly [string, ApprovalRule<unknown>])[] => (rule === false ? [] : [[tool, rule === true ? {} : rule]]),
  );
  return { name, edits, rules: new Map(rules) };
}
