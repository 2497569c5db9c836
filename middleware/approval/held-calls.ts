import type { MaybePromise } from '../../contract/maybe-promise';
import type { ToolCall } from '../../contract/messages/messages';
import { insideOf } from '../../kernel/define/inside';
import type { AgentMiddleware, HookContext } from '../../kernel/define/middleware';
import type { Decide } from './agreement';
import { decideTogether } from './agreement';
import type { Edits } from './changed-calls';
import { RewrittenCalls, callChanged, isTold } from './changed-calls';
import type { Asking, PolicyWaiver } from './stages';
import { decideByStages } from './stages';

/** What is asked about a call; nothing when it needs nobody. */
type AskingOf = (call: ToolCall, ctx: HookContext) => MaybePromise<Asking | undefined>;

/** The hooks of a policy: its calls run when the people of each stage have decided. */
export function holding(name: string, edits: Edits, askingOf: AskingOf): Pick<AgentMiddleware, 'wrapToolCall' | 'beforeModelRewriteState'> {
  const rewritten = edits === 'rewrite' ? new RewrittenCalls(`${name}:edits`) : undefined;
  const hooks: Pick<AgentMiddleware, 'wrapToolCall' | 'beforeModelRewriteState'> = {
    wrapToolCall: (asked, run, ctx) => {
      const decide: Decide = async (call, next, problem) => {
        const found = askingOf(call, ctx);
        const asking = found instanceof Promise ? await found : found;
        if (asking === undefined) return next(call);
        const { version, amount } = asking.plan;
        const { waivers } = insideOf(ctx);
        if (isWaived(waivers.all(), waiverName(name, version, call), amount?.value)) return next(call);
        const end = await decideByStages(call, ctx, asking, problem);
        if (!end.runs) return end.output;
        if (end.waiver !== undefined) waivers.add(upTo(waiverName(name, end.version, call), end.waiver));
        return next(end.editedInput === undefined ? call : { ...call, input: end.editedInput });
      };
      return decideTogether(asked, run, ctx, decide, (call) => (isTold(edits, ctx) ? callChanged(call, run, ctx, rewritten) : run(call)));
    },
  };
  if (rewritten !== undefined) hooks.beforeModelRewriteState = ({ messages }, ctx) => rewritten.rewritten(messages, ctx);
  return hooks;
}

/** A waiver holds for the policy as it was. */
function waiverName(policy: string, version: string, { name }: ToolCall): string {
  return `${policy}@${version}:${name}`;
}

function upTo(waived: string, { upTo: most }: PolicyWaiver): string {
  return most === undefined ? waived : `${waived}<=${most}`;
}

function isWaived(waivers: readonly string[], waived: string, amount: number | undefined): boolean {
  if (waivers.includes(waived)) return true;
  const amounts = waivers.filter((one) => one.startsWith(`${waived}<=`)).map((one) => Number(one.slice(waived.length + 2)));
  // A payment of less than nothing is another one than a small payment.
  return amount !== undefined && amount >= 0 && amounts.some((most) => amount <= most);
}
