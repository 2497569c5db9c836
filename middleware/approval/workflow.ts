import { parseDuration } from '../../contract/plain/duration';
import { HoldfastError } from '../../contract/plain/errors';
import type { ApprovalDecision } from '../../contract/plain/interrupts';
import type { Json, ToolCall } from '../../contract/plain/messages';
import type { AgentMiddleware, HookContext, InputOf, Tools } from '../../kernel/middleware';

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
  /** NoInfer makes the input typed and a misspelt tool name an error. */
  readonly tools: { readonly [Name in keyof NoInfer<T>]?: true | ApprovalRule<InputOf<NoInfer<T>[Name]>> };
}

/** Holds calls of the named tools until a human has decided. The human sees the parsed arguments; nothing else is run. */
export function approval<T extends Tools>(options: ApprovalOptions<T>): AgentMiddleware<T> {
  const rules = new Map<string, ApprovalRule<unknown>>();
  for (const [tool, rule] of Object.entries(options.tools)) {
    if (rule !== undefined) rules.set(tool, checkedRule(tool, rule === true ? {} : (rule as ApprovalRule<unknown>)));
  }
  return {
    name: options.name ?? 'approval',
    onlyTools: [...rules.keys()],
    async wrapToolCall(call, next, ctx) {
      const rule = rules.get(call.name);
      const waived = `approval:${call.name}`;
      if (rule === undefined || ctx.runLocal.get(waived) === true || !needsHuman(rule, call)) return next(call);
      let problem: string | undefined;
      for (;;) {
        const decision = (await ctx.approve(call, {
          onDeadline: { type: rule.onExpiry ?? 'reject', ...(rule.onExpiry === 'approve' ? {} : { feedback: 'Nobody decided in time.' }) },
          ...(rule.expires === undefined ? {} : { deadline: rule.expires }),
          ...(rule.by === undefined ? {} : { by: rule.by }),
          ...(problem === undefined ? {} : { problem }),
        })) as ApprovalDecision;
        if (decision.type === 'reject') return rejection(call, decision.feedback);
        if (decision.type === 'respond') return decision.output;
        problem = decision.editedInput === undefined ? undefined : await misfitOfEdit(call, decision.editedInput, ctx);
        if (problem !== undefined) continue;
        if (decision.forRestOfRun === true) ctx.runLocal.set(waived, true);
        return next(decision.editedInput === undefined ? call : { ...call, input: decision.editedInput });
      }
    },
  };
}

/** Arguments that a human edited wrongly use up no decision: the human is asked again, and told why. */
async function misfitOfEdit(call: ToolCall, editedInput: Json, ctx: HookContext): Promise<string | undefined> {
  const parsed = await ctx.parse(call.name, editedInput);
  return parsed.ok ? undefined : parsed.message;
}

function needsHuman(rule: ApprovalRule<unknown>, call: ToolCall): boolean {
  if (rule.when === undefined) return true;
  try {
    return (rule.when(call.input) as unknown) !== false;
  } catch {
    return true;
  }
}

function rejection(call: ToolCall, feedback: string | undefined): Json {
  const said = feedback === undefined || feedback === '' ? '' : ` They said: ${feedback}`;
  return `A human rejected the call of '${call.name}'. It did not run.${said}`;
}

function checkedRule(tool: string, rule: ApprovalRule<unknown>): ApprovalRule<unknown> {
  if (rule.expires !== undefined && parseDuration(rule.expires) === undefined) {
    throw new HoldfastError('agent-invalid', `approval of "${tool}": expires "${rule.expires}" is no duration; write for example "3d".`);
  }
  if (rule.onExpiry !== undefined && rule.onExpiry !== 'approve' && rule.onExpiry !== 'reject') {
    throw new HoldfastError('agent-invalid', `approval of "${tool}": onExpiry is "approve" or "reject".`);
  }
  return rule;
}
