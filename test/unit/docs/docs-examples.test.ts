import { scriptedModel, testRun } from 'holdfast/testing';
import type { Delta, RunEvent } from 'holdfast/client';
import type { LanguageModel } from 'holdfast/worker';
import type { Agent, AgentMiddleware, Message, Part } from 'holdfast/workflow';
import { agentsFor, onWorker } from 'holdfast/workflow';
import { runExamples, shopExamples } from '../../support/document-examples';
import { failureSaying } from '../../support/failures';
import { startRun } from '../../support/memory-bed';

const shop = runExamples(shopExamples, require);
const { payments, logged, tools } = shop;
const { defineAgent } = agentsFor();
const refundCall = { name: 'refund', input: { orderId: '42', amount: 80 } };

beforeEach(() => {
  payments.clear();
  logged.length = 0;
});

const findCall = (input: object) => ({ name: 'findOrder', input: input as { orderId: string } });
const start = (agent: Agent, ...steps: Parameters<typeof scriptedModel>[0]) =>
  testRun(agent, { input: 'Hi', model: scriptedModel(steps), tools });

describe('the examples do what their documents say:', () => {
  it('aliases, an unknown tool, the question of a tool as the answer of the run', async () => {
    const run = await start(
      shop.support,
      { toolCalls: [{ name: 'lookup', input: { order_id: '42' } }] },
      { toolCalls: [{ name: 'teleport', input: {} }] },
      { toolCalls: [{ name: 'chooseSlot', input: { orderId: '42' } }] },
    );
    const [question] = await run.interrupts();
    await expect(run.resume(question!.id, 'am')).rejects.toMatchObject({ code: 'answer-invalid' });
    await run.resume(question!.id, { slot: 'am' });
    expect(await run.outcome()).toMatchObject({ output: { orderId: '42', slot: 'am' } });
    const transcript = JSON.stringify(await run.transcript());
    expect(transcript).toContain('Teapot');
    expect(transcript).toContain('There is no tool teleport.');
  });

  it('a limit asks for an answer, and says what the definition says', async () => {
    const call = { toolCalls: [findCall({ orderId: '42' })] };
    const model = scriptedModel([call, call, call, { text: 'All but one.' }]);
    const run = await testRun(shop.researcher, { input: 'Hi', model, tools });
    expect(await run.result()).toBe('All but one.');
    expect(model.requests[3]).toMatchObject({ tools: [] });
    expect(model.requests[3]?.messages.at(-1)).toMatchObject({
      role: 'user',
      parts: [{ text: expect.stringContaining('No more look-ups.') }],
    });
  });

  it('the caller makes the calls of an external tool, and goes on', async () => {
    const painter = agentOf('painter', { tools: ['pickColor'] });
    const play = (input: string | readonly Message[], ...steps: Parameters<typeof scriptedModel>[0]) =>
      testRun(painter, { input: input, model: scriptedModel(steps), tools: { pickColor: shop.pickColor } });
    const run = await play('Paint it.', { toolCalls: [{ name: 'pickColor', input: { of: 'car' } }] });
    const outcome = await run.outcome();
    if (outcome.status !== 'tool-calls-pending') throw new Error(outcome.status);
    const results = outcome.toolCalls.map(({ id: callId, name }): Message => ({
      role: 'tool',
      parts: [{ type: 'tool-result', callId, name, output: 'red' }],
    }));
    const next = await play([...(await run.transcript()), ...results], { text: 'It is red.' });
    expect(await next.result()).toBe('It is red.');
  });

  it('a once call is made once', async () => {
    const run = await startRun(shop.support, [{ toolCalls: [refundCall] }, { text: 'Paid.' }], {
      tools,
      lose: ({ reconcile }) => (reconcile ? undefined : 'after'),
    });
    expect(await run.result()).toBe('Paid.');
    expect([...payments.keys()]).toEqual(['default/test/support/t1/refund.0']);
  });

  it('a job makes the first message', async () => {
    const model = scriptedModel([{ text: 'Delivered.' }]);
    const run = await testRun(shop.orders, { input: { orderId: '42' }, model, tools });
    expect(await run.result()).toBe('Delivered.');
    expect(model.requests[0]?.messages[0]?.parts).toEqual([{ type: 'text', text: 'How does order 42 stand?' }]);
  });

  it('a hook asks, and its deadline answers', async () => {
    const model = scriptedModel([
      { toolCalls: [findCall({ orderId: '42' })], usage: { inputTokens: 1, outputTokens: 10_000 } },
      { text: 'Done.' },
    ]);
    const run = await testRun(withMiddleware(shop.budget), { input: 'Hi', model, tools, values: { customer: 'Eve' } });
    expect(await run.interrupts()).toMatchObject([{ kind: 'question', info: { question: 'Spend more?' } }]);
    await run.advance('1d');
    expect(await run.result()).toBe('Done.');
    expect(model.requests.map(({ tools: offered }) => offered.length)).toEqual([2, 0]);
    expect(model.requests[0]?.instructions).toBe('Be careful. The customer is Eve.');
  });

  it('a wrap looks something up and answers itself', async () => {
    const run = await start(
      withMiddleware(shop.ceiling),
      { toolCalls: [{ name: 'refund', input: { orderId: '42', amount: 81 } }] },
      { text: 'Sorry.' },
    );
    expect(await run.result()).toBe('Sorry.');
    expect(JSON.stringify(await run.transcript())).toContain('Order 42 cost 80. Nothing was paid.');
    expect(payments.size).toBe(0);
  });

  it.each([
    ['for good', shop.forgetting],
    ['for the request', shop.shortSighted],
  ])('messages are left out %s', async (name, middleware) => {
    const seen: number[] = [];
    const model = scriptedModel([
      ...Array.from({ length: 25 }, () => (request: { messages: readonly unknown[] }) => {
        seen.push(request.messages.length);
        return { toolCalls: [findCall({ orderId: '42' })] };
      }),
      { text: 'Done.' },
    ]);
    const run = await testRun(agentOf('long', { maxIterations: 30, middleware: [middleware] }), { input: 'Hi', model, tools });
    expect(await run.result()).toBe('Done.');
    expect(Math.max(...seen)).toBe(name === 'for good' ? 39 : 21);
    expect((await run.transcript()).length).toBe(name === 'for good' ? 32 : 52);
  });

  it('tools of all kinds give their results', async () => {
    const { report, chart, weather, order } = shop;
    const kinds = { report, chart, weather, order };
    const agent = agentOf('kinds', { tools: ['report', 'chart', 'weather', 'order'] });
    const oslo = { city: 'Oslo' };
    const calls = [
      { name: 'report', input: oslo },
      { name: 'chart', input: { orderId: '42' } },
      { name: 'weather', input: oslo },
      { name: 'order', input: { item: 'tea' } },
    ];
    const run = await testRun(agent, { input: 'Hi', model: scriptedModel([{ toolCalls: calls }, { text: 'Done.' }]), tools: kinds });
    expect(await run.result()).toBe('Done.');
    const results = (await run.transcript()).flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === 'tool-result' ? [part.output] : [])),
    );
    expect(results).toEqual([
      '# Oslo\nIt rains.',
      [expect.objectContaining({ type: 'text' }), expect.objectContaining({ type: 'file' })],
      { city: 'Oslo', degrees: 4 },
      'ordered tea',
    ]);
  });

  it('an answer is read by its schema', async () => {
    const model = scriptedModel([{ text: 'Yes, as it broke.' }, { text: '{"refund":true,"reason":"It broke."}' }]);
    const run = await testRun(shop.judge, { input: 'Order 42', model, tools, outputs: shop.outputs });
    const { refund, reason } = (await run.result()) as { refund: boolean; reason: string };
    expect([refund, reason]).toEqual([true, 'It broke.']);
  });

  it('a classic middleware adds to an agent, and a sender shows what passes it', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'findOrder', input: { orderId: '42' } }] }, { text: 'Done.' }]);
    const run = await testRun(shop.classic, { input: 'Hi', model, tools });
    await run.outcome();
    expect(model.requests[0]?.instructions).toBe('You are careful.\n\nOrders above 500 need a person.\n\nBe brief.');
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['findOrder', 'refund']);
    expect((await run.transcript())[2]?.parts[0]).toMatchObject({ output: '{"orderId":"42","item":"Teapot","total":80} (findOrder)' });
    for await (const event of run.events({ until: 'waiting' }))
      if (event.type === 'tool-end') expect(event.message.parts[0]).toMatchObject({ output: { total: 80 } });
  });

  it('callbacks answer, change arguments and stop', async () => {
    const pinged = await testRun(withMiddleware(shop.ping), { input: '/ping', model: scriptedModel([]), tools });
    expect(await pinged.result()).toBe('pong');
    const calling = scriptedModel([{ toolCalls: [{ name: 'refund', input: { orderId: '42', amount: 500 } }] }, { text: 'Done.' }]);
    const clamped = await testRun(withMiddleware(shop.clamp), { input: 'Hi', model: calling, tools });
    expect(JSON.stringify((await clamped.transcript())[2])).toContain('"paid":100');
    const aborted = await testRun(shop.guarded, { input: '/abort', model: scriptedModel([]), tools });
    expect(await aborted.result()).toBe('aborted by callback');
    const usage = { inputTokens: 1, outputTokens: 20_000 };
    const stopped = await startRun(shop.guarded, [{ toolCalls: [{ name: 'findOrder', input: { orderId: ' 42 ' } }], usage }], { tools });
    expect(await stopped.outcome()).toMatchObject(failureSaying('stopped'));
    expect(JSON.stringify((await stopped.transcript())[2])).toContain('"orderId":"42"');
  });

  it('callbacks by hand on the worker have a clock', async () => {
    const timedAgent = agentOf('timed', { middleware: [onWorker('timing')] });
    const script = scriptedModel([{ toolCalls: [findCall({ orderId: '42' })] }, { text: 'Done.' }]);
    await (await testRun(timedAgent, { input: 'Hi', model: script, tools, middleware: [shop.timing] })).result();
    expect(logged).toContainEqual(['findOrder', expect.any(Number)]);
  });

  it('middleware and a worker middleware in other shapes', async () => {
    const asked: (readonly Message[])[] = [];
    const call: Part = { type: 'tool-call', id: '1', name: 'findOrder', input: { orderId: '42' } };
    const thought: Part = { type: 'reasoning', text: 'Hm.' };
    const model: LanguageModel = {
      generate: async ({ messages }) => ({ parts: [thought, asked.push(messages) === 1 ? call : { type: 'text', text: 'Done.' }] }),
    };
    const agent = agentOf('shaped', { middleware: [shop.forgetful, shop.concise, onWorker('recorder')] });
    const run = await testRun(agent, { input: 'Hi', model, tools, middleware: [shop.recorder] });
    expect(await run.result()).toBe('Done.');
    expect(asked[1]?.map(({ role, parts }) => `${role} ${parts.map(({ type }) => type).join(' ')}`)).toEqual([
      'user text',
      'user text',
      'assistant tool-call',
      'tool tool-result',
    ]);
    expect((await run.transcript())[2]?.parts).toEqual([thought, call]);
    expect(logged[1]?.[1]).toMatchObject([{}, { role: 'user' }, {}, { blocks: [{ type: 'function-tool-result' }] }]);
  });

  it('options of one run reach model and tool', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'search', input: { query: 'teapot' } }] }, { text: 'Found.' }]);
    const start = (_name: string, input: string, options: object) =>
      testRun(shop.support, { input, model, tools: { ...tools, search: shop.search }, ...options });
    const run = await shop.begin({ start });
    expect(await run.result()).toBe('Found.');
    expect(model.requests[0]).toMatchObject({ model: 'openai/gpt-5-mini', settings: { temperature: 0, maxOutputTokens: 2000 } });
    expect(model.requests[1]!.messages.at(-1)).toMatchObject({ parts: [{ output: { query: 'teapot', region: 'eu', limit: 5 } }] });
  });

  it('the agent with handlers runs with options of its client', async () => {
    const model = scriptedModel([{ toolCalls: [findCall({ orderId: '42' })] }, { text: 'On its way.' }]);
    const start = (_name: string, input: string, options: object) => testRun(shop.desk, { input, model, tools, ...options });
    expect(await shop.ask({ start }, 'Where is 42?')).toBe('On its way.');
    expect(logged).toContainEqual(['tool', 'findOrder']);
    expect(model.requests[0]!.tools.map(({ name }) => name)).toEqual(['findOrder']);
  });

  it('a stranger at the desk has no refunds, and a tool that asks goes on with its state', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'book', input: { guests: 2 } }] }, { text: 'Done.' }]);
    const options = { tools: ['book', 'refund'] };
    const run = await testRun(shop.desk, { input: 'Hi', model, tools: { ...tools, book: shop.book }, options });
    const [interrupt] = await run.interrupts();
    expect(interrupt).toMatchObject({ info: { question: 'Inside or outside?' } });
    await run.resume(interrupt!.id, 'inside');
    expect(await run.result()).toBe('Done.');
    expect(model.requests[0]!.tools.map(({ name }) => name)).toEqual(['book']);
    expect(model.requests[1]!.messages.at(-1)).toMatchObject({ parts: [{ output: 'A table for 2, inside.' }] });
  });

  it('a worker middleware knows what the run has spent, and an observer how long calls took', async () => {
    const agent = agentOf('spender', { middleware: [shop.spending, onWorker('spent')] });
    const usage = { inputTokens: 3, outputTokens: 2 };
    const model = scriptedModel([
      { toolCalls: [findCall({ orderId: '42' })], usage },
      { text: 'Done.', usage },
    ]);
    await (await testRun(agent, { input: 'Hi', model, tools, middleware: [shop.spent], observers: [shop.stopwatch] })).result();
    const none = { inputTokens: 0, outputTokens: 0 };
    expect(logged.filter(([topic]: unknown[]) => topic === 'spent')).toEqual([
      ['spent', { before: none, now: usage }],
      ['spent', { before: usage, now: usage }],
    ]);
    expect(logged).toContainEqual(['tool', { id: 'spender/t1/findOrder.0', attempt: 1, took: expect.any(Number) }]);
  });

  it('a half changes a stream of a model of ones own, and a reader puts it together', async () => {
    const agent = agentOf('streaming', { model: 'in-house/large', middleware: [onWorker('redact')] });
    for (const stream of [true, false]) {
      const deltas: Delta[] = [];
      const play = { input: 'Hi', model: shop.inHouseModels, tools, middleware: [shop.redact], stream };
      const run = await testRun(agent, { ...play, onDelta: (delta) => deltas.push(delta) });
      expect(await run.result()).toBe('It was paid with [card], and is 10 days late.');
      expect(await run.usage()).toEqual({ inputTokens: 8, outputTokens: 18 });
      const said = deltas.map((delta) => (delta.type === 'text-delta' ? delta.text : '')).join('');
      expect(said).toBe(stream ? await run.result() : '');
      const texts = new Map<string, string>();
      async function* events(): AsyncGenerator<Delta | RunEvent> {
        yield* deltas;
        yield* run.events();
      }
      await shop.follow({ events: events as never }, texts);
      expect(Object.fromEntries(texts)).toEqual({ 'streaming/t1/model': '', 'streaming/t2/model': await run.result() });
    }
  });

  it('a worker middleware sees model and tool calls', async () => {
    const audited = agentOf('audited', { middleware: [onWorker('audit', { topic: 'orders' })] });
    const run = await startRun(audited, [{ toolCalls: [findCall({ orderId: '42' })] }, { text: 'Done.' }], {
      tools,
      middleware: [shop.audit],
    });
    expect(await run.result()).toBe('Done.');
    expect(logged.map(([topic, { id }]: [string, { id: string }]) => [topic, id])).toEqual([
      ['orders', 'audited/t1/model'],
      ['orders', 'audited/t1/findOrder.0'],
      ['orders', 'audited/t2/model'],
    ]);
  });
});

describe('agents together in the documents', () => {
  const transfer = (name: string) => ({ toolCalls: [{ name: 'transfer_to_agent', input: { agent_name: name } }] });

  it('give work away and get it back, or hand over', async () => {
    const model = scriptedModel({
      head: [transfer('clerk'), transfer('lawyer'), { text: 'You get it back.' }],
      clerk: [{ toolCalls: [findCall({ orderId: '42' })] }, { text: 'It is a teapot.' }],
      lawyer: [{ text: 'We owe it.' }],
    });
    const run = await testRun(shop.office, { input: 'My money!', model, tools });
    expect(await run.result()).toBe('You get it back.');
    model.assertComplete();
    const desk = scriptedModel({ desk: [transfer('travel')], travel: [{ text: 'By train.' }] });
    expect(await (await testRun(shop.frontDesk, { input: 'How?', model: desk, tools })).result()).toBe('By train.');
  });

  it('are tools of others', async () => {
    const model = scriptedModel({
      editor: [{ toolCalls: [{ name: 'writer', input: { request: 'A verse.' } }] }, { text: 'Page 1: Roses are red.' }],
      writer: [{ text: 'Roses are red.' }],
    });
    const run = await testRun(shop.editor, { input: 'A page.', model, tools });
    expect(await run.result()).toBe('Page 1: Roses are red.');
    const paths = new Set<string>();
    for await (const event of run.events()) if ('runPath' in event) paths.add(event.runPath.join('/'));
    expect([...paths]).toEqual(['editor', 'editor/writer@1']);
  });

  it('are made by hand, and go over a continue-as-new while they ask', async () => {
    const model = scriptedModel({ writer: [{ text: 'Roses is red.' }, { text: 'Roses are red.' }] });
    const run = await testRun(shop.reviewed, { input: 'A verse.', model });
    for (const wish of ['It is "are".', '']) {
      await run.goOnAsNew();
      const [interrupt] = await run.interrupts();
      await run.resume(interrupt!.id, wish);
    }
    expect(await run.result()).toBe('Roses are red.');
    const customs: unknown[] = [];
    for await (const event of run.events()) if (event.type === 'custom') customs.push(event.data);
    expect(customs).toEqual([{ output: { wish: 'It is "are".' } }]);
    model.assertComplete();
  });
});

function agentOf(name: string, rest: Partial<Omit<Parameters<typeof defineAgent>[0], 'output' | 'inputSchema'>>): Agent {
  return defineAgent<string>({ name, description: '', instructions: '', model: 'default', tools: ['findOrder'], ...rest });
}

function withMiddleware(...middleware: readonly AgentMiddleware[]): Agent {
  return agentOf('support', { instructions: 'Be careful.', tools: ['findOrder', 'refund'], middleware });
}

describe('the first examples of concepts and of the pages for people from elsewhere', () => {
  const paying = { toolCalls: [refundCall] };

  it.each([shop.careful, shop.witnessed])('wait for a person before they pay', async (agent) => {
    const run = await testRun(agent, { input: 'Refund order 42', model: scriptedModel([paying, { text: 'Paid.' }]), tools });
    const [interrupt] = await run.interrupts();
    expect(payments.size).toBe(0);
    await run.approve(interrupt!.id, { by: 'ada' });
    expect(await run.result()).toBe('Paid.');
    expect(payments.size).toBe(1);
  });

  it('find an order', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'findOrder', input: { orderId: '42' } }] }, { text: 'A teapot.' }]);
    expect(await (await testRun(shop.lookup, { input: 'What is order 42?', model, tools })).result()).toBe('A teapot.');
  });
});

describe('the examples of approvals, isolated agents, hooks and built-in middleware', () => {
  it('go on without an answer after an hour, or with it', async () => {
    for (const [answer, carrier] of [
      [undefined, 'the cheapest carrier'],
      ['Swift', 'Swift'],
    ] as const) {
      const model = scriptedModel([{ text: 'Sent.' }]);
      const run = await testRun(withMiddleware(shop.hurried), { input: 'Send it.', model, tools });
      const [interrupt] = await run.interrupts();
      if (answer === undefined) await run.advance('1h');
      else await run.resume(interrupt!.id, answer);
      expect(await run.result()).toBe('Sent.');
      expect(model.requests[0]!.instructions).toBe(`Be careful. Ship with ${carrier}.`);
      expect(await run.interrupts()).toEqual([]);
    }
  });

  it('give parallel agents runs of their own', async () => {
    const model = scriptedModel({ writer: [{ text: 'A verse.' }], critic: [{ text: 'No fault.' }] });
    const run = await testRun(shop.apart, { id: 'order-42', input: 'A verse.', model });
    expect(await run.result()).toEqual({ writer: 'A verse.', critic: 'No fault.' });
    expect([...run.children.keys()]).toEqual(['order-42~writer', 'order-42~critic']);
  });

  it('say how long a model took', async () => {
    const run = await testRun(withMiddleware(shop.timekeeper), { input: 'Hi', model: scriptedModel([{ text: 'Done.' }]), tools });
    expect(await run.result()).toBe('Done.');
    const customs: unknown[] = [];
    for await (const event of run.events()) if (event.type === 'custom') customs.push([event.name, event.data]);
    expect(customs).toEqual([['model-took', { iteration: 1, milliseconds: expect.any(Number) }]]);
  });

  it('show the model one tool first, and refuse a misspelt one', async () => {
    const model = scriptedModel([{ text: 'Done.' }]);
    const run = await testRun(withMiddleware(shop.quickTools('refund')), { input: 'Hi', model, tools });
    expect(await run.result()).toBe('Done.');
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['refund']);
    expect(() => withMiddleware(shop.quickTools('refnd'))).toThrow('Did you mean "refund"?');
  });

  it('give calls without a result one, then ask a person', async () => {
    const model = scriptedModel([{ toolCalls: [refundCall] }, { text: 'Paid.' }]);
    const cutOff: Message = { role: 'assistant', parts: [{ type: 'tool-call', id: 'c1', name: 'findOrder', input: { orderId: '42' } }] };
    const input = [cutOff, { role: 'user', parts: [{ type: 'text', text: 'Refund it.' }] }] as never;
    const run = await testRun(shop.prepared, { input, model, tools });
    const [interrupt] = await run.interrupts();
    expect(model.requests[0]!.messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'user']);
    await run.approve(interrupt!.id, { by: 'ada' });
    expect(await run.result()).toBe('Paid.');
  });
});
