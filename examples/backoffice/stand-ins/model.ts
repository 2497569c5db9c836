/** A provider that takes five requests at a time and answers more with 429. Arguments: milliseconds of an answer, requests at a time. */
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

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
type Answer = string | readonly Call[];

const [callMs = 500, atOnce = 5] = process.argv.slice(2).map(Number);
const seen = { requests: 0, answered: 0, refused: 0, mostAtOnce: 0, firstAt: 0, lastAt: 0, callMs, atOnce };
let atWork = 0;

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

function clerk(messages: readonly Said[]): Answer {
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

function write(response: ServerResponse, answer: Answer, stream: boolean): void {
  const base = { id: 'c', created: 0, model: 'office' };
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
  const toolCalls = (typeof answer === 'string' ? [] : answer).map(({ name, input }, index) => ({
    ...{ index, id: `call_${(calls += 1)}`, type: 'function' },
    function: { name, arguments: JSON.stringify(input) },
  }));
  const finish = toolCalls.length === 0 ? 'stop' : 'tool_calls';
  const content = typeof answer === 'string' ? answer : null;
  const message = { role: 'assistant', content, ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }) };
  if (!stream) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...base, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: finish }], usage }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunk = (choice: object, more: object = {}): string =>
    `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }], ...more })}\n\n`;
  response.end(`${chunk({ delta: message })}${chunk({ delta: {}, finish_reason: finish }, { usage })}data: [DONE]\n\n`);
}

const server = createServer((request, response) => {
  void (async () => {
    let text = '';
    for await (const piece of request) text += String(piece);
    if (request.url === '/report') {
      response.end(JSON.stringify(seen));
      return;
    }
    seen.requests += 1;
    if (atWork >= atOnce) {
      seen.refused += 1;
      response.writeHead(429, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: 'Too many requests.', type: 'requests', code: 'rate_limit_exceeded' } }));
      return;
    }
    atWork += 1;
    seen.mostAtOnce = Math.max(seen.mostAtOnce, atWork);
    seen.firstAt ||= Date.now();
    await delay(callMs);
    atWork -= 1;
    seen.answered += 1;
    seen.lastAt = Date.now();
    const asked = JSON.parse(text) as Asked;
    write(response, clerk(asked.messages), asked.stream === true);
  })();
});

server.listen(Number(process.env['PORT'] ?? 4002), '127.0.0.1', () => {
  console.log(`model  http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
});
