import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import type { ToolCallContext } from '../../activities/tools/define-tool';
import { defineTool } from '../../activities/tools/define-tool';
import { defineWorkerMiddleware } from '../../activities/worker-middleware/worker-middleware';
import type { Json, Part } from '../../contract/messages/messages';
import { told } from './plays';

/** Parallel calls end in a different order in memory too, by the number of yields. */
async function letOthers(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await setImmediate();
}

const forEver = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('told to stop')), { once: true }));

async function used(tool: string, input: Json, call: ToolCallContext): Promise<void> {
  const { callId, idempotencyKey, attempt, resumed } = call;
  const again = resumed === undefined ? {} : { resumed: { answer: resumed.answer as Json, state: resumed.state ?? null } };
  await told({ is: 'used', call: { tool, input, callId, idempotencyKey, attempt, ...again } });
}

const said = z.object({ say: z.string(), turns: z.number().int().default(0) });
type SaidInput = z.infer<typeof said>;
const shown = (value: string): Part => ({ type: 'text', text: value });
const image: Part = { type: 'file', mediaType: 'image/png', data: 'aGk=' };

const act =
  (name: string) =>
  async (input: SaidInput, call: ToolCallContext): Promise<Json> => {
    await used(name, input, call);
    await letOthers(input.turns);
    if (input.say.startsWith('fail')) throw new Error(`cannot ${input.say}`);
    if (input.say.startsWith('large')) return 'x'.repeat(300_000);
    if (input.say.startsWith('nothing')) return undefined as unknown as Json;
    return { said: input.say, key: call.idempotencyKey };
  };

const question = z.object({ question: z.string(), typed: z.boolean().default(false), deadline: z.string().optional() });

const ask =
  (name: string) =>
  async (input: z.infer<typeof question>, call: ToolCallContext): Promise<Json> => {
    await used(name, input, call);
    if (call.resumed !== undefined) return { answer: call.resumed.answer as Json, state: call.resumed.state ?? null };
    return call.interrupt(
      { question: input.question, callId: call.callId },
      {
        ...(input.question.startsWith('with state') ? { state: { asked: input.question } } : {}),
        ...(input.typed ? { answerSchema: z.object({ answer: z.string() }) } : {}),
        ...(input.deadline === undefined ? {} : { deadline: input.deadline }),
      },
    );
  };

export const tools = {
  act: defineTool({ description: 'Acts.', inputSchema: said, effect: 'none', execute: act('act') }),
  answer: defineTool({ description: 'Answers.', inputSchema: said, execute: act('answer') }),
  quick: defineTool({ description: 'Acts at once.', inputSchema: said, execute: act('quick') }),
  pay: defineTool({
    description: 'Acts once.',
    inputSchema: said,
    effect: 'once',
    execute: act('pay'),
    reconcile: async ({ say }, { idempotencyKey: key }) =>
      (await told({ is: 'asked whether', key })) === undefined ? { happened: false } : { happened: true, result: { said: say, key } },
  }),
  flaky: defineTool({
    description: 'Fails the first time.',
    inputSchema: said,
    retry: { attempts: 2 },
    async execute(input, call) {
      await used('flaky', input, call);
      call.runLocal.set('flaky', call.attempt);
      call.sendEvent('flaky', { callId: call.callId, attempt: call.attempt });
      await letOthers(input.turns);
      if (call.attempt === 1 || input.say.startsWith('fail')) throw new Error(`cannot ${input.say}`);
      return { said: input.say, attempt: call.attempt };
    },
  }),
  note: defineTool({
    description: 'Keeps something for the run.',
    inputSchema: z.object({ key: z.string(), value: z.string() }),
    async execute({ key, value }, call) {
      await used('note', { key, value }, call);
      const before = call.runLocal.get(`note:${key}`);
      if (value === '') call.runLocal.delete(`note:${key}`);
      else call.runLocal.set(`note:${key}`, value);
      call.sendEvent('noted', { callId: call.callId, before: before ?? null });
      return { before: before ?? null, hook: call.runLocal.get('hook') ?? null, now: call.runLocal.get(`note:${key}`) ?? null };
    },
  }),
  ask: defineTool({ description: 'Asks a person.', inputSchema: question, execute: ask('ask') }),
  quickAsk: defineTool({ description: 'Asks a person at once.', inputSchema: question, execute: ask('quickAsk') }),
  pieces: defineTool({
    description: 'Says it in pieces.',
    inputSchema: said,
    async *stream(input, call) {
      await used('pieces', input, call);
      yield `${input.say} `;
      await letOthers(input.turns);
      if (input.say.startsWith('fail')) throw new Error('the line broke');
      yield 'end';
    },
  }),
  paint: defineTool({
    description: 'Says it with an image.',
    inputSchema: said,
    enhanced: true,
    async execute(input, call) {
      await used('paint', input, call);
      await letOthers(input.turns);
      if (input.say.startsWith('fail')) throw new Error('no paint');
      return [shown(input.say), image];
    },
  }),
  paintPieces: defineTool({
    description: 'Says it with an image, piece by piece.',
    inputSchema: said,
    enhanced: true,
    async *stream(input, call) {
      await used('paintPieces', input, call);
      yield shown(input.say);
      await letOthers(input.turns);
      if (input.say.startsWith('fail')) throw new Error('no paint');
      yield image;
    },
  }),
  slow: defineTool({
    description: 'Never ends.',
    inputSchema: said,
    timeout: '250ms',
    execute: async (input, call) => (await used('slow', input, call), forEver(call.signal)),
  }),
  lost: defineTool({
    description: 'Never ends, and must not be called twice.',
    inputSchema: said,
    timeout: '250ms',
    effect: 'once',
    execute: async (input, call) => (await used('lost', input, call), forEver(call.signal)),
  }),
};

const verdict = z.object({ verdict: z.enum(['yes', 'no']), why: z.string().default('no reason') });
export const outputs = { verdict };

const marks = defineWorkerMiddleware('marks', () => ({
  wrapModel: {
    async generate(request, next, call) {
      const calls = Number(call.runLocal.get('half') ?? 0) + 1;
      call.runLocal.set('half', calls);
      call.sendEvent('half', { calls, hook: call.runLocal.get('hook') ?? null, messages: request.messages.length });
      const response = await next({ ...request, instructions: `${request.instructions} (${calls})` });
      call.sendEvent('half saw', response.message.parts.length);
      return response;
    },
    looksOn: true,
  },
  async wrapInvokableToolCall(input, next, call) {
    call.runLocal.set(`half:${call.callId}`, input);
    call.sendEvent('half tool', { callId: call.callId, hook: call.runLocal.get('hook') ?? null });
    const { say } = (typeof input === 'object' && input !== null ? input : {}) as { say?: unknown };
    if (say === 'half throws') throw new Error('the half is broken');
    const output = await next(input);
    return say === 'half changes' ? { changed: output } : output;
  },
  async *wrapStreamableToolCall(input, next, call) {
    call.sendEvent('half stream', { callId: call.callId });
    yield 'first ';
    yield* next(input);
  },
  wrapEnhancedInvokableToolCall: async (input, next) => [...(await next(input)), shown('half')],
}));
export const halves = [marks];
