import type { Json, ToolCall } from '../../contract/messages/messages';
import type { AskAgain, HeldCall, Pass } from '../../kernel/define/inside';
import { insideOf } from '../../kernel/define/inside';
import type { AgentMiddleware, HookContext } from '../../kernel/define/middleware';
import type { Edits } from './changed-calls';
import { RewrittenCalls, callChanged } from './changed-calls';

type NextCall = (call: ToolCall) => Promise<Json>;

/** Gives `next` the call to make. `problem`: why people are asked again. */
export type Decide = (call: ToolCall, next: NextCall, problem: string | undefined) => Promise<Json>;

const changedLater = 'Somebody who was asked later changed the arguments of this call.';

/** If a person changes the call, the layers around ask again, until all agree to the same arguments. */
export function askingPeople(
  name: string,
  edits: Edits,
  decideIn: (ctx: HookContext) => Decide,
): Pick<AgentMiddleware, 'wrapToolCall' | 'beforeModelRewriteState'> {
  const rewritten = edits === 'rewrite' ? new RewrittenCalls(`${name}:edits`) : undefined;
  return {
    wrapToolCall: (call, next, ctx) => {
      const decide = decideIn(ctx);
      const { together: layers } = insideOf(ctx);
      const tell: NextCall = (changed) => (edits === 'hide' ? next(changed) : callChanged(changed, next, ctx, rewritten));
      const ask: AskAgain = async (held): Promise<Pass> => {
        let passed: ToolCall | undefined;
        const output = await decide(held.call, (changed) => ((passed = changed), Promise.resolve(null)), changedLater);
        if (passed === undefined) return { runs: false, output };
        return { runs: true, held: passed === held.call ? held : await asRead(passed, ctx) };
      };
      const together = async (changed: ToolCall): Promise<Json> => {
        const pass = await layers.askAround(changed === call ? { call, raw: call.input } : await asRead(changed, ctx), ask);
        if (!pass.runs) return pass.output;
        if (pass.held.call.inputHash === call.inputHash) return next(call);
        layers.tellsOfEdit();
        return tell({ ...call, input: pass.held.raw });
      };
      const agreed: NextCall = (changed) => {
        layers.holds(ask);
        if (changed === call) return layers.asksAround(call) ? together(call) : next(call);
        return layers.asksAround() ? together(changed) : tell(changed);
      };
      return decide(call, agreed, undefined);
    },
    ...(rewritten === undefined ? {} : { beforeModelRewriteState: ({ messages }, ctx) => rewritten.rewritten(messages, ctx) }),
  };
}

/** Only `false` means no: a rule that throws, or returns nothing, means yes. */
export function needsPeople<Args extends readonly unknown[]>(when: ((...args: Args) => unknown) | undefined, ...args: Args): boolean {
  try {
    return when?.(...args) !== false;
  } catch {
    return true;
  }
}

export function rejection(call: ToolCall, feedback: string | undefined): Json {
  const said = feedback === undefined || feedback === '' ? '' : ` They said: ${feedback}`;
  return `A human rejected the call of '${call.name}'. It did not run.${said}`;
}

async function asRead(changed: ToolCall, ctx: HookContext): Promise<HeldCall> {
  const { name, input: raw } = changed;
  const parsed = await ctx.parse(name, raw);
  return { call: { ...changed, input: parsed.ok ? (parsed.input ?? raw) : raw, ...(parsed.ok ? { inputHash: parsed.hash } : {}) }, raw };
}
