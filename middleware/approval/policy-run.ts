import { insideOf } from '../../kernel/define/inside';
import type { HookContext } from '../../kernel/define/middleware';
import type { PolicyRun } from '../../contract/policies';

export function runOf(ctx: HookContext): PolicyRun {
  return { id: ctx.runId, agent: ctx.agent, ...insideOf(ctx).startedWith };
}
