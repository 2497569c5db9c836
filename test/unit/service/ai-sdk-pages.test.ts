import { validateUIMessages } from 'ai';
import type { Hono } from 'hono';
import { z } from 'zod';
import type { RunView } from '../../../contract/events';
import { approval } from '../../../middleware/index';
import type { AiSdkUiOptions } from '../../../service/ai-sdk/parts';
import type { ScriptedStep, TestConversation } from '../../../testing/index';
import { scriptedModel, testConversation } from '../../../testing/index';
import { defineTool } from '../../../worker/index';
import { pageOf, textsOf, toolsOf } from '../../support/ai-sdk-page';
import { only } from '../../support/memory-bed';
import { appOn } from '../../support/service-app';
import { member } from '../../support/team-bed';

const tools = {
  look: defineTool({ description: 'Looks.', inputSchema: z.object({ at: z.string() }), execute: ({ at }) => ({ seen: at }) }),
  pay: defineTool({ description: 'Pays.', inputSchema: z.object({ amount: z.number() }), execute: ({ amount }) => ({ paid: amount }) }),
};
const agent = member('desk', { tools: ['look', 'pay'], middleware: [approval({ tools: { pay: { by: ['mona'] } } })] });

const look = { name: 'look', input: { at: 'claim' }, id: 'c1' };
const pay = { name: 'pay', input: { amount: 9000 }, id: 'c2' };

interface Served {
  readonly app: Hono;
  readonly chat: TestConversation;
  readonly opened: readonly unknown[][];
}

async function served(steps: readonly ScriptedStep[], aiSdk: AiSdkUiOptions = {}): Promise<Served> {
  const chat = await testConversation(agent, { model: scriptedModel(steps), tools, id: 'c', by: 'sue' });
  const opened: unknown[][] = [];
  const conversation = (...asked: readonly unknown[]) => (opened.push([...asked]), chat);
  const agents = [{ name: 'desk', description: 'Under test.', takesJob: false }];
  return { app: appOn({ conversation, run: () => chat.run }, { agents, aiSdk }), chat, opened };
}

const words = (text: string) => [{ id: 'm1', role: 'user', parts: [{ type: 'text', text }] }];

async function post({ app }: Served, more: object = {}): Promise<Response> {
  const body = JSON.stringify({ id: 'c', messages: words('Pay 9,000.'), by: 'sue', ...more });
  return app.request('/aisdk/desk', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

async function partsOf(response: Response | Promise<Response>) {
  const text = await (await response).text();
  return text.split('\n\n').flatMap((frame) => (frame.startsWith('data: {') ? [JSON.parse(frame.slice(6))] : []));
}

const offsetIn = (parts: Awaited<ReturnType<typeof partsOf>>): number => parts.at(-1).messageMetadata.holdfast.offset;

async function approve({ chat }: Served, by = 'mona'): Promise<void> {
  await chat.run.outcome();
  await chat.run.approve(only(await chat.run.interrupts()).id, { by, comment: 'He is known.' });
}

const messagesFor = async ({ app }: Served, who = 'by=mona') => {
  const response = await app.request(`/aisdk/desk/c/messages?${who}`);
  const { messages } = (await response.json()) as { messages: never[] };
  return messages.length === 0 ? [] : validateUIMessages({ messages });
};

describe('what a page begins a chat with', () => {
  it('is values, tags, idle and deadline', async () => {
    const page = await served([{ text: 'Hello.' }]);
    const start = { values: { customer: 'sue' }, tags: ['claims'], idle: '30d', deadline: '90d' };
    expect((await partsOf(post(page, start))).at(-1)).toMatchObject({ type: 'finish' });
    expect(page.opened).toEqual([['desk', 'c', start]]);
  });

  it.each([[{ from: 'sue' }], [{ value: {} }], [{ messages: [{ ...words('Hi')[0], by: 'sue' }] }], [{ tags: 'vip' }], [{ until: 'ever' }]])(
    'is refused with what no chat has: %j',
    async (more) => {
      const page = await served([]);
      const response = await post(page, more);
      expect([response.status, await response.json()]).toMatchObject([400, { error: { code: 'request-invalid' } }]);
    },
  );
});

describe('a page whose user does not decide', () => {
  const steps = [{ toolCalls: [pay] }, { text: 'It is paid.' }];

  it('learns of the decision while it waits with `until`', async () => {
    const page = await served(steps);
    const parts = partsOf(post(page, { until: 'end' }));
    await approve(page);
    const shown = await pageOf(await parts);
    expect([textsOf(shown), toolsOf(shown)[0]]).toMatchObject(['It is paid.', { state: 'output-available', output: { paid: 9000 } }]);
  });

  it('follows the chat again, also by a stream of GET', async () => {
    const page = await served(steps);
    expect((await partsOf(post(page))).at(-1)).toMatchObject({ type: 'finish', finishReason: 'tool-calls' });
    const parts = partsOf(page.app.request('/aisdk/desk/c/stream?until=end&by=sue'));
    await approve(page);
    expect(textsOf(await pageOf(await parts))).toBe('It is paid.');
  });

  it('waits for the first turn where somebody has said something a moment ago', async () => {
    const page = await served(steps);
    await partsOf(post(page));
    const { run } = page.chat;
    const view = await run.view();
    const [message] = view.messages;
    const queue = [{ id: 'm1', mode: 'after-turn', message }];
    jest
      .spyOn(run, 'view')
      .mockResolvedValueOnce({ ...view, conversation: { turn: 0, status: 'working', paused: false, queue } } as RunView);
    jest.spyOn(page.chat, 'turnOffset').mockResolvedValueOnce(undefined);
    const parts = await partsOf(page.app.request('/aisdk/desk/c/stream?by=sue'));
    expect(toolsOf(await pageOf(parts))).toMatchObject([{ state: 'approval-requested' }]);
  });

  it('gets nothing twice where it has all by then', async () => {
    const page = await served([{ text: 'Let me pay.', toolCalls: [pay] }, { text: 'It is paid.' }]);
    const before = await partsOf(post(page));
    const message = await pageOf(before);
    const since = partsOf(page.app.request(`/aisdk/desk/c/stream?until=end&by=sue&from=${offsetIn(before)}`));
    await approve(page);
    expect(textsOf(await pageOf(await since, message))).toBe('Let me pay.|It is paid.');
  });

  it('gets what came since, also behind the end of the turn', async () => {
    const page = await served(steps);
    const before = await partsOf(post(page));
    const message = await pageOf(before);
    await approve(page);
    await page.chat.run.outcome();
    const again = (from: number | string) => page.app.request(`/aisdk/desk/c/stream?by=sue&from=${from}`);
    const since = await partsOf(again(offsetIn(before)));
    const shown = await pageOf(since, message);
    expect([textsOf(shown), toolsOf(shown)]).toMatchObject(['It is paid.', [{ state: 'output-available' }]]);
    expect((await again(offsetIn(since))).status).toBe(204);
    expect((await page.app.request('/aisdk/desk/c/stream')).status).toBe(204);
    expect((await again('x')).status).toBe(400);
  });

  it('sees that a call waits, and no details of what others are asked', async () => {
    const page = await served(steps);
    const asks = (part: { readonly type: string }): boolean => /interrupt/.test(part.type);
    expect((await partsOf(post(page))).filter(asks)).toEqual([]);
    const read = (who: string) => partsOf(page.app.request(`/aisdk/desk/c/stream?${who}`));
    expect((await read('by=sue&role=clerk')).filter(asks)).toEqual([]);
    const types = (await read('by=mona')).filter(asks).map(({ type }) => type);
    expect(types).toEqual(['data-holdfast-interrupt']);
    expect((await read('by=sue&role=clerk')).map(({ type }) => type)).toContain('tool-approval-request');
    await approve(page);
    await page.chat.run.outcome();
    const rest = await partsOf(page.app.request('/aisdk/desk/c/stream?by=sue&from=1'));
    expect(rest.filter(asks)).toEqual([]);
    expect(rest.map(({ type }) => type)).toContain('tool-output-available');
  });
});

describe('GET /aisdk/:agent/:chat/messages', () => {
  it('has nothing at first, and then each message with its calls and results, as the streams have shown them', async () => {
    const page = await served([{ text: 'Let me see.', toolCalls: [look] }, { text: 'It is there.' }, { text: 'Bye.' }]);
    expect(await messagesFor(page)).toEqual([]);
    const first = await pageOf(await partsOf(post(page)));
    await partsOf(post(page, { messages: [{ ...words('Thanks.')[0], id: 'm2' }], by: 'bob' }));
    const messages = await messagesFor(page);
    expect(messages.map(({ id, role }) => `${role} ${id}`)).toEqual(['user m1', 'assistant turn-1', 'user m2', 'assistant turn-2']);
    expect(messages[1]).toEqual(first);
    expect(messages[2]).toMatchObject({ metadata: { holdfast: { by: 'bob', turn: 2 } }, parts: [{ type: 'text', text: 'Thanks.' }] });
  });

  it('has what waits for a decision, and what was decided', async () => {
    const page = await served([{ toolCalls: [pay] }, { text: 'It is paid.' }]);
    await partsOf(post(page));
    const stateOf = async (who?: string) => toolsOf((await messagesFor(page, who)).at(-1)!)[0];
    const { id } = only(await page.chat.run.interrupts());
    expect(await stateOf()).toMatchObject({ state: 'approval-requested', approval: { id } });
    expect(await stateOf('by=sue')).toMatchObject({ state: 'approval-requested', input: { amount: 9000 } });
    await approve(page);
    await page.chat.run.outcome();
    expect(await stateOf()).toMatchObject({ state: 'output-available', output: { paid: 9000 }, approval: { id, approved: true } });
    expect(JSON.stringify(await messagesFor(page, 'by=sue'))).not.toContain('He is known.');
  });

  it('has what waits in a later turn, whose stream ends as that of the first one does', async () => {
    const page = await served([{ text: 'Good day.' }, { toolCalls: [pay] }, { text: 'It is paid.' }]);
    await partsOf(post(page));
    const parts = await partsOf(post(page, { messages: [{ ...words('Pay 9,000.')[0], id: 'm2' }] }));
    const { id } = only(await page.chat.run.interrupts());
    expect(parts).toContainEqual(expect.objectContaining({ type: 'tool-approval-request', approvalId: id }));
    expect(toolsOf((await messagesFor(page)).at(-1)!)[0]).toMatchObject({ state: 'approval-requested', approval: { id } });
  });

  it('has a rejection with its reason, which the model was told', async () => {
    const page = await served([{ toolCalls: [pay] }, { text: 'It is not paid.' }]);
    await partsOf(post(page));
    await page.chat.run.reject(only(await page.chat.run.interrupts()).id, 'Too much.', { by: 'mona' });
    await page.chat.run.outcome();
    const [call] = toolsOf((await messagesFor(page)).at(-1)!);
    expect(call).toMatchObject({ state: 'output-denied', approval: { approved: false, reason: 'Too much.' } });
  });
});

it('the hook `show` leaves out calls, and changes parts, by who reads', async () => {
  const seen: unknown[] = [];
  const page = await served([{ text: 'Let me see.', toolCalls: [look] }, { text: 'It is there.' }], {
    show: (part, context) => {
      if ('toolCallId' in part) seen.push({ type: part.type, ...context });
      if (context.tool === 'look' && context.by !== 'mona') return false;
      return part.type === 'text-delta' ? { ...part, delta: part.delta.toUpperCase() } : undefined;
    },
  });
  const shown = await pageOf(await partsOf(post(page)));
  expect([textsOf(shown), toolsOf(shown)]).toEqual(['LET ME SEE.|IT IS THERE.', []]);
  expect(seen[0]).toEqual({ type: 'tool-input-start', agent: 'desk', chat: 'c', tool: 'look', by: 'sue' });
  expect(toolsOf((await messagesFor(page, 'by=sue'))[1]!)).toEqual([]);
  expect(toolsOf((await messagesFor(page))[1]!)).toMatchObject([{ state: 'output-available' }]);
});
