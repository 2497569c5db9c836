import { defined } from '../../contract/defined';
import { durationProblem } from '../../contract/duration';
import { HoldfastError } from '../../contract/errors';
import type { ApprovalDecision } from '../../contract/interrupts';
import type { Json, ToolCall } from '../../contract/messages/messages';
import { cut, shown } from '../../contract/shown';
import { insideOf } from '../../kernel/define/inside';
import type { AgentMiddleware, HookContext, InputOf, Tools } from '../../kernel/define/middleware';

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
  /** `false` is no rule. NoInfer makes the input typed and a misspelt tool name an error. */
  readonly tools: { readonly [Name in keyof NoInfer<T>]?: boolean | ApprovalRule<InputOf<NoInfer<T>[Name]>> };
}

/** Holds calls of the named tools until a human has decided. The human sees the parsed arguments; nothing else is run. */
export function approval<T extends Tools>(options: ApprovalOptions<T>): AgentMiddleware<T> {
  const { name, rules } = checkedOptions(options);
  return {
    name,
    onlyTools: [...rules.keys()],
    async wrapToolCall(call, next, ctx) {
      const rule = rules.get(call.name);
      if (rule === undefined) return next(call);
      // What one person waives spares no second one: several approvals have their own.
      const waived = `${name}:${call.name}`;
      const { waivers } = insideOf(ctx);
      if (waivers.has(waived) || !needsHuman(rule, call)) return next(call);
      let problem: string | undefined;
      for (;;) {
        const decision = (await ctx.approve(call, {
          onDeadline: { type: rule.onExpiry ?? 'reject', ...(rule.onExpiry === 'approve' ? {} : { feedback: 'Nobody decided in time.' }) },
          ...defined({ deadline: rule.expires, by: rule.by, problem }),
        })) as ApprovalDecision;
        if (decision.type === 'reject') return rejection(call, decision.feedback);
        if (decision.type === 'respond') return decision.output;
        problem = decision.editedInput === undefined ? undefined : await misfitOfEdit(call, decision.editedInput, ctx);
        if (problem !== undefined) continue;
        if (decision.forRestOfRun === true) waivers.add(waived);
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

function checkedOptions(options: unknown): { readonly name: string; readonly rules: ReadonlyMap<string, ApprovalRule<unknown>> } {
  const { name = 'approval', tools } = (isRecord(options) ? options : {}) as { name?: unknown; tools?: unknown };
  const other = Object.keys(isRecord(options) ? options : {}).find((field) => field !== 'name' && field !== 'tools');
  if (other !== undefined)
    throw new HoldfastError(
      'agent-invalid',
      `approval has no "${cut(other)}"; it has name and tools. What is meant for a tool stands in its rule.`,
    );
  if (typeof name !== 'string' || name === '') throw new HoldfastError('agent-invalid', 'approval: name is a text.');
  if (!isRecord(tools)) throw new HoldfastError('agent-invalid', 'approval needs tools: { refund: true } or a rule for each.');
  if (Object.keys(tools).length === 0)
    throw new HoldfastError(
      'agent-invalid',
      'approval: tools has no tool, so it would hold no call. Name one, such as { refund: true }, or leave the approval out; false for a tool says that it needs none.',
    );
  const rules = new Map<string, ApprovalRule<unknown>>();
  for (const [tool, rule] of Object.entries(tools)) if (rule !== false) rules.set(tool, checkedRule(tool, rule));
  return { name, rules };
}

const ruleFields = ['when', 'expires', 'onExpiry', 'by'];

/** A rule that is not quite one would protect less than its author thinks. */
function checkedRule(tool: string, rule: unknown): ApprovalRule<unknown> {
  const refuse = (problem: string): never => {
    throw new HoldfastError('agent-invalid', `approval of "${cut(tool)}": ${problem}`);
  };
  if (rule === true) return {};
  if (!isRecord(rule)) return refuse('a rule is true, or an object with when, expires, onExpiry or by; false is no rule.');
  const unknown = Object.keys(rule).find((field) => !ruleFields.includes(field));
  if (unknown !== undefined) refuse(`a rule has no "${cut(unknown)}"; it has ${ruleFields.join(', ')}.`);
  const { when, expires, onExpiry, by } = rule;
  if (when !== undefined && typeof when !== 'function') refuse('when is a function of the arguments.');
  if (expires !== undefined) {
    const problem = typeof expires === 'string' ? durationProblem(expires) : 'is no duration; write for example "3d"';
    if (problem !== undefined) refuse(`expires ${shown(expires)} ${problem}.`);
  }
  if (onExpiry !== undefined && onExpiry !== 'approve' && onExpiry !== 'reject') refuse('onExpiry is "approve" or "reject".');
  if (onExpiry !== undefined && expires === undefined)
    refuse(
      'onExpiry says what happens when the time is over, and there is no expires; write for example expires: "3d", or leave onExpiry out.',
    );
  if (by !== undefined && !(Array.isArray(by) && by.length > 0 && by.every((one) => typeof one === 'string' && one.trim() !== '')))
    refuse('by is a list of at least one name; nobody else could ever decide.');
  return rule;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
