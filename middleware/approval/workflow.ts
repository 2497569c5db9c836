import type { Forms } from '../../contract/check';
import { checkOptions, duration, filled, func, oneOf, refusing, required, shape, someTexts, tableOf, worded } from '../../contract/check';
import { defined } from '../../contract/defined';
import type { ApprovalDecision } from '../../contract/decisions';
import type { ToolCall } from '../../contract/messages/messages';
import { insideOf } from '../../kernel/define/inside';
import type { AgentMiddleware, InputOf, Tools } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';
import type { Decide } from './agreement';
import { decideTogether } from './agreement';
import type { Edits } from './changed-calls';
import { RewrittenCalls, callChanged } from './changed-calls';
import { misfitOfEdit, rejection } from './decided';

export interface ApprovalRule<Input> {
  /** Which calls need a human. Default: all. Only `false` means no: a rule that throws, or forgets to return, means yes. */
  readonly when?: (input: Input) => boolean;
  /** How long a human has, such as '3d'. Default: for ever. */
  readonly expires?: string;
  /** What happens then. Default: reject. */
  readonly onExpiry?: 'approve' | 'reject';
  /** Who may decide. Default: anybody who reaches the service. */
  readonly by?: readonly string[];
}

export interface ApprovalOptions<T extends Tools> {
  /** Only needed when an agent has several approvals. */
  readonly name?: string;
  /**
   * What the model hears of a call that a person changed. `tell`: its result says so, with the arguments. `rewrite`: the call itself stands in the
   * messages as it ran, and its result says that a person changed it. `hide`: nothing. Default: `tell`.
   */
  readonly edits?: Edits;
  /** `false` is no rule. NoInfer makes the input typed and a misspelt tool name an error. */
  readonly tools: { readonly [Name in keyof NoInfer<T>]?: boolean | ApprovalRule<InputOf<NoInfer<T>[Name]>> };
}

/** Holds calls of the named tools until a human has decided. The human sees the parsed arguments; nothing else is run. */
export function approval<T extends Tools>(options: ApprovalOptions<T>): AgentMiddleware<T> {
  const { name, rules, edits } = checkedOptions(options);
  const rewritten = edits === 'rewrite' ? new RewrittenCalls(`${name}:edits`) : undefined;
  const middleware: AgentMiddleware<T> = {
    name,
    onlyTools: [...rules.keys()],
    asksAbout: [...rules.keys()],
    wrapToolCall: (asked, run, ctx) => {
      const decide: Decide = async (call, next, why) => {
        const rule = rules.get(call.name);
        if (rule === undefined) return next(call);
        // What one person waives spares no second one: several approvals have their own.
        const waived = `${name}:${call.name}`;
        const { waivers } = insideOf(ctx);
        if (waivers.has(waived) || !needsHuman(rule, call)) return next(call);
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
          problem = decision.editedInput === undefined ? undefined : await misfitOfEdit(call, decision.editedInput, ctx);
          if (problem !== undefined) continue;
          if (decision.forRestOfRun === true) waivers.add(waived);
          return next(decision.editedInput === undefined ? call : { ...call, input: decision.editedInput });
        }
      };
      return decideTogether(asked, run, ctx, decide, (call) => (edits !== 'hide' ? callChanged(call, run, ctx, rewritten) : run(call)));
    },
  };
  if (rewritten !== undefined) middleware.beforeModelRewriteState = ({ messages }, ctx) => rewritten.rewritten(messages, ctx);
  return withTraits(middleware, { offersTools: [] });
}

function needsHuman(rule: ApprovalRule<unknown>, call: ToolCall): boolean {
  if (rule.when === undefined) return true;
  try {
    return (rule.when(call.input) as unknown) !== false;
  } catch {
    return true;
  }
}

const ruleForms: Forms<ApprovalRule<unknown>> = {
  when: worded(func, 'a function of the arguments'),
  expires: duration,
  onExpiry: oneOf('approve', 'reject'),
  // Nobody else could ever decide.
  by: worded(someTexts, 'an array of at least one name'),
};
const aRule = { wanted: 'true or false, or an object with when, expires, onExpiry or by', problem: ruleProblem };

/** A rule that is not quite one would protect less than its author thinks. */
function ruleProblem(rule: unknown, option: string): string | undefined {
  if (typeof rule === 'boolean') return undefined;
  const problem = shape(ruleForms, aRule.wanted).problem(rule, option);
  if (problem !== undefined) return problem;
  const { onExpiry, expires } = rule as ApprovalRule<unknown>;
  if (onExpiry === undefined || expires !== undefined) return undefined;
  return `${option}.onExpiry says what happens when the time is over, and there is no expires; write for example expires: "3d", or leave onExpiry out`;
}

interface CheckedOptions {
  readonly name: string;
  readonly edits: Edits;
  readonly rules: ReadonlyMap<string, ApprovalRule<unknown>>;
}

function checkedOptions(given: unknown): CheckedOptions {
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
