import type { Json, ToolCall } from '../../contract/messages/messages';
import type { HookContext } from '../../kernel/define/middleware';

/** Arguments that a human edited wrongly use up no decision: the human is asked again, and told why. */
export async function misfitOfEdit(call: ToolCall, editedInput: Json, ctx: HookContext): Promise<string | undefined> {
  const parsed = await ctx.parse(call.name, editedInput);
  return parsed.ok ? undefined : parsed.message;
}

/** What the model hears of a call that did not run. */
export function rejection(call: ToolCall, feedback: string | undefined): Json {
  const said = feedback === undefined || feedback === '' ? '' : ` They said: ${feedback}`;
  return `A human rejected the call of '${call.name}'. It did not run.${said}`;
}

/** The same where nobody was there to say no. */
export function notDecided(call: ToolCall, why: string): Json {
  return `The call of '${call.name}' was not approved. It did not run. ${why}`;
}
