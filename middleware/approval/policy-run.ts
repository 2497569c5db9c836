import { defined } from '../../contract/defined';
import { insideOf } from '../../kernel/define/inside';
import type { HookContext } from '../../kernel/define/middleware';
import type { PolicyRun } from '../../contract/policies';

export function runOf(ctx: HookContext): PolicyRun {
  const { values, tags, startedBy } = insideOf(ctx).startedWith;
  return { id: ctx.runId, agent: ctx.agent, values, tags, ...defined({ startedBy }) };
}
