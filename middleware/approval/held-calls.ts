import type { MaybePromise } from '../../contract/maybe-promise';
import type { ToolCall } from '../../contract/messages/messages';
import { insideOf } from '../../kernel/define/inside';
import type { AgentMiddleware, HookContext } from '../../kernel/define/middleware';
import { askingPeople } from './agreement';
import type { Edits } from './changed-calls';
import { isWaived, textOfWaiver } from './policy-waivers';
import type { Asking } from './stages';
import { decideByStages } from './stages';

type AskingOf = (call: ToolCall, ctx: HookContext) => MaybePromise<Asking | undefined>;

export function holding(name: string, edits: Edits, askingOf: AskingOf): Pick<AgentMiddleware, 'wrapToolCall' | 'beforeModelRewriteState'> {
  return askingPeople(name, edits, (ctx) => async (call, next, problem) => {
    const found = askingOf(call, ctx);
    const asking = found instanceof Promise ? await found : found;
    if (asking === undefined) return next(call);
    const { waivers, startedWith, eyes } = insideOf(ctx);
    const { plan } = asking;
    const writers = [...(startedWith.startedBy === undefined ? [] : [startedWith.startedBy]), ...eyes.writers];
    if (isWaived(waivers.all(), { policy: name, tool: call.name, plan, writers, people: eyes.people })) return next(call);
    const end = await decideByStages(call, ctx, asking, problem);
    if (!end.runs) return end.output;
    if (end.waiver !== undefined) waivers.add(textOfWaiver(name, call.name, end.waiver));
    return next(end.editedInput === undefined ? call : { ...call, input: end.editedInput });
  });
}
