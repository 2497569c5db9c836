import { ToolError, failureOf } from '../../kernel/effects/errors';
import { insideOf } from '../../kernel/define/inside';
import type { HookContext } from '../../kernel/define/middleware';
import type { Json, JsonObject, Message, Part, ToolCall } from '../../contract/messages/messages';

export type Edits = 'tell' | 'rewrite' | 'hide';

type Kept = Readonly<Record<string, Json>>;

const changed = 'A person changed the arguments of this call before it ran.';

export async function callChanged(
  call: ToolCall,
  next: (call: ToolCall) => Promise<Json>,
  ctx: HookContext,
  calls: RewrittenCalls | undefined,
): Promise<Json> {
  calls?.keep(call, ctx);
  const note = calls === undefined ? `${changed} It ran with: ${JSON.stringify(call.input)}` : changed;
  const isEnhanced = ctx.toolFacts(call.name)?.kind.startsWith('enhanced') === true;
  let output: Json;
  try {
    output = await next(call);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    const { code, message } = failureOf(error);
    if (code === 'answer-stale' || insideOf(ctx).together.isToldInside) throw error;
    throw new ToolError({ code, message: `${note}\n\n${message}` }, ToolError.messageIdOf(error));
  }
  if (insideOf(ctx).together.isToldInside) return output;
  if (isEnhanced && Array.isArray(output)) return [{ type: 'text', text: note }, ...(output as readonly Json[])];
  return `${note}\n\n${typeof output === 'string' ? output : JSON.stringify(output)}`;
}

export class RewrittenCalls {
  constructor(private readonly key: string) {}

  keep({ id, input }: ToolCall, ctx: HookContext): void {
    ctx.runLocal.set(this.key, { ...this.kept(ctx), [id]: input });
  }

  rewritten(messages: readonly Message[], ctx: HookContext): { readonly messages: readonly Message[] } | undefined {
    const kept = this.kept(ctx);
    if (Object.keys(kept).length === 0) return undefined;
    ctx.runLocal.delete(this.key);
    const rewrite = (part: Part): Part =>
      part.type === 'tool-call' && Object.hasOwn(kept, part.id) ? { ...part, input: kept[part.id] as Json } : part;
    const isMeant = ({ parts }: Message): boolean => parts.some((part) => rewrite(part) !== part);
    return { messages: messages.map((message) => (isMeant(message) ? { ...message, parts: message.parts.map(rewrite) } : message)) };
  }

  private kept(ctx: HookContext): Kept {
    return (ctx.runLocal.get(this.key) ?? {}) as JsonObject as Kept;
  }
}
