import type { AgentMiddleware, HookContext, Json, Message } from '../../workflows/index';
import { agentsFor, onWorker, textOf } from '../../workflows/index';
import { approval, contextEditing, reduction } from '../../middleware/index';
import { callbacksOfAll } from './agent-callbacks';
import { toolAliases } from './agent-names';
import { late, racing, wordOf } from './racing';

const { defineAgent } = agentsFor();

const acting = ['act', 'answer', 'quick', 'pay', 'flaky', 'note', 'ask', 'quickAsk', 'pieces', 'paint', 'paintPieces', 'slow', 'lost'];
export const base = {
  description: 'Under test.',
  instructions: 'Be a test.',
  model: 'test/model',
  tools: acting,
  toolAliases,
  maxIterations: 6,
};

const message =
  (role: 'user' | 'assistant') =>
  (text: string): Message => ({ role, parts: [{ type: 'text', text }] });
const user = message('user');
const assistant = message('assistant');

function lastText(messages: readonly Message[]): string {
  const last = messages.at(-1);
  return last === undefined ? '' : textOf(last);
}

const risky = { when: (input: unknown) => wordOf({ input: input as Json }).startsWith('risky'), expires: '3d' };
const approving = approval({ tools: { act: risky, quick: risky, pay: risky, pieces: { ...risky, by: ['ada', 'bob'] }, flaky: risky } });

const editing: AgentMiddleware = {
  ...onWorker('marks'),
  beforeAgent({ instructions, tools }, ctx) {
    ctx.runLocal.set('began', ctx.userMessage);
    ctx.session.set('runs', 1);
    return {
      instructions: `${instructions} They said: ${ctx.userMessage}`,
      tools: tools.filter((tool) => tool !== 'paint'),
      values: { edits: 0 },
    };
  },
  beforeModelRewriteState({ messages }, ctx) {
    const edits = Number(ctx.values['edits']) + 1;
    ctx.sendEvent('before', {
      edits,
      half: ctx.runLocal.get('half') ?? null,
      began: ctx.runLocal.get('began') ?? null,
      usage: ctx.usage.inputTokens,
      messages: messages.length,
    });
    ctx.runLocal.set('hook', edits);
    if (edits === 2) return { messages: [user('Inserted.'), ...messages], values: { edits } };
    if (edits === 3) return { messages: messages.slice(1), values: { edits } };
    if (edits === 4)
      return { messages: [{ ...user('Rewritten.'), id: (messages[0] as { id: string }).id }, ...messages.slice(1)], values: { edits } };
    return { values: { edits } };
  },
  afterModelRewriteState({ messages }, ctx) {
    const text = lastText(messages);
    if (text.startsWith('Break')) throw new Error('broken by a word');
    if (!text.startsWith('Rewrite')) return undefined;
    const kept = ctx.ensureMessageId(assistant('Rewritten answer.'));
    ctx.sendEvent({ name: 'kept', message: kept });
    return { messages: [...messages.slice(0, -1), kept] };
  },
  async wrapModel(request, next, ctx) {
    const response = await next(request);
    if (!textOf(response.message).startsWith('Again')) return response;
    ctx.sendEvent('again', ctx.iteration);
    return next({ ...request, messages: [...request.messages, response.message, user('Again, please.')], settings: { temperature: 0 } });
  },
  async wrapToolCall(call, next, ctx) {
    ctx.sendEvent('wrap', {
      callId: call.id,
      of: ctx.runLocal.get(`wrap:${call.id}`) ?? null,
      half: ctx.runLocal.get(`half:${call.id}`) ?? null,
    });
    ctx.runLocal.set(`wrap:${call.id}`, call.name);
    switch (wordOf(call)) {
      case 'throw':
        throw new Error('the wrap is broken');
      case 'skip':
        return { skipped: call.input };
      case 'swap':
        return next({ ...call, input: { say: 'swapped' } });
      case 'spoil':
        return next({ ...call, input: { say: 7 } });
      case 'twice':
        await next(call);
        return next(call);
      case 'catch':
      case 'fail caught':
        return next(call).catch((error: unknown) => ({ caught: String((error as { code?: unknown }).code) }));
      case 'mark':
        ctx.sendToolAction({ marked: call.id });
        return { marked: await next(call) };
      default:
        return next(call);
    }
  },
  afterToolCalls({ messages }, ctx) {
    ctx.sendEvent('after', {
      one: ctx.runLocal.get('note:one') ?? null,
      two: ctx.runLocal.get('note:two') ?? null,
      flaky: ctx.runLocal.get('flaky') ?? null,
    });
    if (JSON.stringify(messages.at(-1)?.parts ?? []).includes('enough')) return { answer: assistant('That was enough.') };
    return undefined;
  },
  afterAgent: ({ messages }, ctx) => (
    ctx.sendEvent('end', messages.length),
    { append: lastText(messages).startsWith('Fine') ? [assistant('A footer.')] : [] }
  ),
  afterFailure: ({ code }, _, ctx) => (ctx.sendEvent('failure', code), { append: [assistant('Sorry.')] }),
};

const asking: AgentMiddleware = {
  name: 'asking',
  async beforeAgent(_, ctx) {
    if (ctx.userMessage.startsWith('Ask')) ctx.sendEvent('began', await ctx.interrupt({ before: 'all' }));
  },
  async beforeModelRewriteState(_, ctx) {
    if (ctx.iteration !== 2) return;
    const both = await Promise.all([
      ctx.interrupt('one', { kind: 'custom' }),
      ctx.interrupt('two', { deadline: '200ms', onDeadline: 'nobody' }),
    ]);
    ctx.sendEvent('both', both as Json);
  },
  async wrapModel(request, next, ctx) {
    const response = await next(request);
    const text = textOf(response.message);
    if (text.startsWith('Wait')) await ctx.sleep('30ms');
    if (text.startsWith('Aside')) ctx.sendEvent('aside', textOf((await ctx.model('test/side', { messages: request.messages })).message));
    if (!text.startsWith('Ask')) return response;
    const answer = await ctx.interrupt<Json>({ keep: text }, { answerSchema: { type: ['string', 'boolean', 'object'] } });
    return { ...response, message: assistant(`They said ${JSON.stringify(answer)}.`) };
  },
  async wrapToolCall(call, next, ctx) {
    const asks = (place: string): Promise<Json> => ctx.interrupt<Json>({ place, callId: call.id });
    switch (wordOf(call)) {
      case 'ask before':
        return { first: await asks('before'), then: await next(call) };
      case 'ask after':
        return { first: await next(call), then: await asks('after') };
      case 'ask beside':
        return Promise.all([asks('beside'), next(call), ctx.call('note', { key: call.id, value: 'beside' })]) as Promise<Json>;
      case 'ask in time':
        return ctx.interrupt<Json>({ place: 'in time', callId: call.id }, { deadline: '100ms' });
      case 'sleep':
        await ctx.sleep('20ms');
        return next(call);
      default:
        return next(call);
    }
  },
  async afterToolCalls(_, ctx) {
    const hidden = await ctx.call('act', { say: 'hidden' });
    const [fits, not] = await Promise.all([ctx.parse('act', { say: 'x' }), ctx.parse('act', { say: 1 })]);
    ctx.sendEvent('hidden', [hidden as Json, fits.ok, not.ok]);
  },
};

const counting: AgentMiddleware = {
  name: 'counting',
  async wrapToolCall(call, next, ctx: HookContext) {
    const count = Number(ctx.runLocal.get('count') ?? 0) + 1;
    ctx.runLocal.set('count', count);
    return { count, output: await next(call) };
  },
};

const ending: AgentMiddleware = {
  name: 'ending',
  afterAgent: ({ messages }, ctx) => ctx.sendEvent('end', messages.map(({ role }) => role).join(' ')),
};

const retry = {
  maxRetries: 2,
  backoff: (retry: number) => 10 * retry,
  shouldRetry({
    input,
    output,
    error,
    attempt,
  }: {
    input: readonly Message[];
    output?: Message;
    error?: { code: string; retryable?: boolean };
    attempt: number;
  }) {
    const text = output === undefined ? '' : textOf(output);
    if (error === undefined && !text.startsWith('Bad')) return undefined;
    if (error?.retryable === false) return { retry: false, rewriteError: `Rewritten: ${error.code}` };
    return {
      retry: true,
      rejectReason: { text, attempt, failed: error?.code ?? null },
      ...(text === ''
        ? {}
        : {
            modifiedInput: [...input, user(`Not: ${text}`)],
            persistModifiedInput: text.startsWith('Bad and'),
            additionalSettings: { temperature: 0.5 },
          }),
    };
  },
};

const failover = {
  maxRetries: 1,
  shouldFailover: (_: Message | undefined, { message: said }: { message: string }) => !said.includes('hopeless'),
  getFailoverModel: ({ input }: { input: readonly Message[] }) => ({
    model: 'test/spare',
    input: [...input, user('You are the spare one.')],
  }),
};

export const plain = defineAgent({ ...base, name: 'plain' });
export const careful = defineAgent({
  ...base,
  name: 'careful',
  middleware: [approving],
  toolArguments: (_, input) => (wordOf({ input }) === 'handled' ? { say: 'by a handler' } : input),
  unknownTool: (name) => `There is no ${name}.`,
});
export const tries = defineAgent({ ...base, name: 'tries', retry, failover });
export const patient = defineAgent({
  ...base,
  name: 'patient',
  retry: { maxRetries: 1, isRetryable: ({ retryable }) => retryable === true },
});
export const hooked = defineAgent({ ...base, name: 'hooked', middleware: [editing] });
export const steps = defineAgent({ ...base, name: 'steps', sequentialTools: true, middleware: [counting, approving] });
export const strict = defineAgent({ ...base, name: 'strict', toolErrors: 'fail', middleware: [editing] });
export const direct = defineAgent({
  ...base,
  name: 'direct',
  returnDirectly: ['answer', 'paint', 'ask'],
  exitTool: true,
  middleware: [ending],
});
export const called = defineAgent({ ...base, name: 'called', middleware: [callbacksOfAll] });
export const asks = defineAgent({ ...base, name: 'asking', middleware: [asking] });
export const typed = defineAgent({ ...base, name: 'typed', output: 'verdict', returnDirectly: ['answer'] });
export const whole = defineAgent({ ...base, name: 'whole', middleware: [callbacksOfAll, approving, asking, editing], retry, failover });

/** Options refer to the tools' own names, not to the model's names. */
const tidying = contextEditing({ triggerTokens: 12, keep: 1, excludeTools: ['note', 'act'] });
const shortening = reduction({ skipTruncation: true, maxTokensForClear: 24, clearExcludeTools: ['pieces', 'act'] });
export const renamed = defineAgent({
  ...base,
  name: 'renamed',
  returnDirectly: ['answer', 'quick', 'pieces'],
  middleware: [approving, tidying, shortening],
});
const hurry = (onExpiry: 'approve' | 'reject') => ({ ...risky, expires: '10s', onExpiry });
const hurrying = approval({
  tools: { act: hurry('approve'), quick: hurry('reject'), pay: hurry('approve'), pieces: { ...hurry('reject'), by: ['ada'] } },
});
export const hurried = defineAgent({ ...base, name: 'hurried', middleware: [late, hurrying] });
export const races = defineAgent({ ...base, name: 'racing', middleware: [racing, approving] });
export { abreast, apart, boss, deep, frontDesk, made, office, rounds, stages } from './teams';
