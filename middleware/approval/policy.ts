import { defined } from '../../contract/defined';
import { isRecord } from '../../contract/check';
import type { Json, ToolCall } from '../../contract/messages/messages';
import { canonicalJson } from '../../contract/messages/messages';
import type { CallForPolicy, PlannedStage, PolicyRun } from '../../contract/policies';
import { withPolicySource } from '../../contract/policies';
import { sha256 } from '../../contract/sha256';
import type { AgentMiddleware, Tools } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';
import { needsPeople } from './agreement';
import { holding } from './held-calls';
import type { AnyStage, PolicyOptions } from './policy-options';
import { checkedDeciders, checkedPolicy, runOf } from './policy-options';
import type { Plan } from './stage-state';

type Functions = (call: CallForPolicy, run: PolicyRun) => unknown;

/**
 * Holds calls of the named tools until the people of all stages have decided. Also a value of `policies` in a configuration.
 * @example
 * export const refunds = policy<typeof tools, 'refund'>({
 *   name: 'refunds',
 *   tools: ['refund'],
 *   when: ({ input }) => input.amount > 50,
 *   stages: [{ name: 'support', by: { roles: ['support'] }, fourEyes: true }],
 * });
 */
export function policy<T extends Tools, Name extends keyof T & string = keyof T & string>(
  options: PolicyOptions<T, Name>,
): AgentMiddleware<T> {
  const { name, tools, when, stages, amount, edits } = checkedPolicy<T, Name>(options);
  const version = versionOf({ name, tools, when, stages, amount, edits: edits ?? 'tell' });
  const stagesFor = ({ tool, input }: CallForPolicy, run: PolicyRun): Pick<Plan, 'stages' | 'amount'> => {
    const value = amount === undefined ? undefined : amountIn(input, amount);
    return {
      stages: (stages as readonly AnyStage[]).map((stage, position) => planned(stage, { tool, input }, run, `stages[${position}].by`)),
      ...(amount === undefined || value === undefined ? {} : { amount: { path: amount, value } }),
    };
  };
  const holds = (call: CallForPolicy, run: PolicyRun): boolean => needsPeople(when as Functions | undefined, call, run);
  const isMine = (tool: string): boolean => (tools as readonly string[]).includes(tool);
  const middleware: AgentMiddleware<T> = {
    name,
    onlyTools: [...tools],
    asksAbout: [...tools],
    ...holding(name, edits ?? 'tell', (call, ctx) => {
      const run = runOf(ctx);
      if (!isMine(call.name) || !holds(toPolicy(call), run)) return undefined;
      const planOf = (shown: ToolCall): Plan => ({ name, version, holds: true, ...stagesFor(toPolicy(shown), run) });
      return { plan: planOf(call), planOf };
    }),
  };
  return withPolicySource(withTraits(middleware, { offersTools: [] }), {
    name,
    version,
    tools,
    saysEdits: edits !== undefined,
    plan: (call, run) => ({ version, holds: isMine(call.tool) && holds(call, run), ...stagesFor(call, run) }),
  });
}

function toPolicy({ name: tool, input }: ToolCall): CallForPolicy {
  return { tool, input };
}

/** A nameless starter or writer may be any decider, so four eyes then need one person more. */
function planned(stage: AnyStage, call: CallForPolicy, run: PolicyRun, at: string): PlannedStage {
  const { name, by = {}, need = 1, fourEyes = false, remind = [], escalate, expires, onExpiry = 'reject', delegate = true } = stage;
  return {
    by: typeof by === 'function' ? checkedDeciders((by as Functions)(call, run), 'policy', at) : by,
    need: fourEyes && (run.startedBy === undefined || run.hasUnnamedWriter === true) ? need + 1 : need,
    ...{ fourEyes, remind, onExpiry, delegates: delegate },
    ...defined({ name, escalate, expires }),
  };
}

function amountIn(input: Json, path: string): number | undefined {
  let at: Json | undefined = input;
  for (const key of path.split('.')) at = isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  return typeof at === 'number' ? at : undefined;
}

/** A function counts by its text in the bundle. */
function versionOf(content: object): string {
  const data = (value: unknown): Json => {
    if (typeof value === 'function') return { function: String(value) };
    if (Array.isArray(value)) return value.map(data);
    if (!isRecord(value)) return (value ?? null) as Json;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, one]) => one !== undefined)
        .map(([key, one]) => [key, data(one)]),
    );
  };
  return sha256(canonicalJson(data(content))).slice(0, 12);
}
