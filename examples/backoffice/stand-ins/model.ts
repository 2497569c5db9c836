import { setTimeout as delay } from 'node:timers/promises';
import { serve } from './serve';
import type { Answer, Served } from './serve';

interface Said {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string; readonly arguments: string } }[];
}
interface Asked {
  readonly messages: readonly Said[];
  readonly stream?: boolean;
}
interface Call {
  readonly name: string;
  readonly input: object;
}
type Reply = string | readonly Call[];

function textOf({ content }: Said): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? '').join('') : '';
}

function resultsIn(messages: readonly Said[]): ReadonlyMap<string, string> {
  const results = new Map<string, string>();
  for (const { tool_calls: calls = [] } of messages)
    for (const { id, function: called } of calls) {
      const result = messages.find((message) => message.tool_call_id === id);
      if (result !== undefined) results.set(called.name, textOf(result));
    }
  return results;
}

function clerk(messages: readonly Said[]): Reply {
  const results = resultsIn(messages);
  const [, ticket = '', order = '', wish = ''] =
    /Ticket (\S+), order (\S+)\. The customer wishes a (\w+)/.exec(messages.map(textOf).join('\n')) ?? [];
  const found = results.get('findOrder');
  if (found === undefined)
    return [
      { name: 'findOrder', input: { order } },
      { name: 'findCustomer', input: {} },
    ];
  const given = results.get('refund') ?? results.get('sendVoucher');
  if (given === undefined) {
    const [, total = '0'] = /"total":\s*(\d+)/.exec(found) ?? [];
    return wish === 'voucher'
      ? [{ name: 'sendVoucher', input: { order, amount: 10 } }]
      : [{ name: 'refund', input: { order, amount: Number(total) } }];
  }
  const result = /"payment"/.test(given) ? `${wish} given` : `${wish} refused`;
  if (!results.has('closeTicket'))
    return [
      { name: 'sendMail', input: { text: `About your order ${order}: ${result}.` } },
      { name: 'closeTicket', input: { ticket, result } },
    ];
  return `Ticket ${ticket} is closed: ${result}.`;
}

let calls = 0;

function answerOf(reply: Reply, stream: boolean): Answer {
  const base = { id: 'c', created: 0, model: 'office' };
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
  const toolCalls = (typeof reply === 'string' ? [] : reply).map(({ name, input }, index) => ({
    ...{ index, id: `call_${(calls += 1)}`, type: 'function' },
    function: { name, arguments: JSON.stringify(input) },
  }));
  const finish = toolCalls.length === 0 ? 'stop' : 'tool_calls';
  const content = typeof reply === 'string' ? reply : null;
  const message = { role: 'assistant', content, ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }) };
  if (!stream) return { json: { ...base, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: finish }], usage } };
  const chunk = (choice: object, more: object = {}): string =>
    `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }], ...more })}\n\n`;
  return { events: `${chunk({ delta: message })}${chunk({ delta: {}, finish_reason: finish }, { usage })}data: [DONE]\n\n` };
}

export interface ModelOptions {
  /** Milliseconds of an answer. */
  readonly callMs: number;
  readonly atOnce: number;
}

/** A provider that takes some requests at a time and answers more with 429. */
export async function openModel({ callMs, atOnce }: ModelOptions) {
  const seen = { answered: 0, refused: 0, mostAtOnce: 0, firstAt: 0, lastAt: 0 };
  let atWork = 0;
  const server: Served = await serve(async (_, body) => {
    if (atWork >= atOnce) {
      seen.refused += 1;
      return { status: 429, json: { error: { message: 'Too many requests.', type: 'requests', code: 'rate_limit_exceeded' } } };
    }
    atWork += 1;
    seen.mostAtOnce = Math.max(seen.mostAtOnce, atWork);
    seen.firstAt ||= Date.now();
    await delay(callMs);
    atWork -= 1;
    seen.answered += 1;
    seen.lastAt = Date.now();
    const asked = JSON.parse(body) as Asked;
    return answerOf(clerk(asked.messages), asked.stream === true);
  });
  return { ...server, seen };
}
