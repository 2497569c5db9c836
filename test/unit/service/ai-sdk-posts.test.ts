import type { UIMessage } from 'ai';
import { lastAssistantMessageIsCompleteWithApprovalResponses, lastAssistantMessageIsCompleteWithToolCalls } from 'ai';
import { z } from 'zod';
import type { RunEvent, RunView } from '../../../contract/events';
import { approval, policy } from '../../../middleware/index';
import type { Thread } from '../../../service/projection/thread';
import { turnStream } from '../../../service/ai-sdk/turn-stream';
import { scriptedModel, testConversation } from '../../../testing/index';
import type { TestConversation } from '../../../testing/index';
import { defineTool } from '../../../worker/index';
import { allOf } from '../../support/all-of';
import { aguiApp } from '../../support/agui-bed';
import { PageChat, toolsOf } from '../../support/ai-sdk-page';
import { toolOf } from '../../support/memory-bed';
import { member } from '../../support/team-bed';

const tools = {
  look: defineTool({ description: 'Looks.', inputSchema: z.object({ at: z.string() }), execute: ({ at }) => ({ seen: at }) }),
  pay: defineTool({ description: 'Pays.', inputSchema: z.object({ amount: z.number() }), execute: ({ amount }) => ({ paid: amount }) }),
  book: toolOf((_, call) => (call.resumed === undefined ? call.interrupt({ question: 'When?' }) : 'booked')),
};
const support = member('support', { tools: ['look', 'pay', 'book'], middleware: [approval({ tools: { pay: true, book: true } })] });
const two = policy<typeof tools, 'pay'>({ name: 'two', tools: ['pay'], stages: [{ need: 2 }, { by: { roles: ['boss'] } }] });
const careful = member('careful', { tools: ['pay'], middleware: [two] });
const direct = member('direct', { tools: ['look'], returnDirectly: ['look'] });

interface PageOptions {
  readonly posted?: unknown[];
  readonly who?: object;
  readonly sendAutomaticallyWhen?: typeof lastAssistantMessageIsCompleteWithToolCalls;
}

function pageOn(conversation: TestConversation, agent: string, { who = {}, ...options }: PageOptions = {}): PageChat {
  const app = aguiApp(conversation, {}, agent);
  const ask = ((url: string, init: RequestInit) => {
    const body = typeof init.body === 'string' ? { body: JSON.stringify({ ...JSON.parse(init.body), ...who }) } : {};
    return Promise.resolve(app.request(url, { ...init, ...body }));
  }) as typeof fetch;
  return new PageChat(`http://service/aisdk/${agent}`, { ...options, id: conversation.id, ask });
}

const statesOf = (page: PageChat): readonly string[] => toolsOf(page.last as UIMessage).map(({ state }) => state as string);

const turnOfTasks = () => new Promise((resolve) => setTimeout(resolve, 50));

describe('what a page posts by itself', () => {
  it('is each decision about one call that several people decide about', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'pay', input: { amount: 5 } }] }, { text: 'Paid.' }]);
    const who: Record<string, unknown> = { by: 'ann' };
    const posted: unknown[] = [];
    const page = pageOn(await testConversation(careful, { model, tools }), 'careful', { who, posted });
    await page.sendMessage({ text: 'Pay!' });
    for (const next of [{ by: 'ann' }, { by: 'bob' }, { by: 'zoe', roles: ['boss'] }]) {
      Object.assign(who, next);
      const { asked } = page;
      expect([statesOf(page), asked === undefined]).toEqual([['approval-requested'], false]);
      await page.addToolApprovalResponse({ id: asked?.approval.id ?? '', approved: true });
      await page.until(({ status, asked: now }) => status === 'ready' && now?.approval.id !== asked?.approval.id);
    }
    await page.until(({ text }) => text !== '');
    expect([statesOf(page), page.text, posted.length]).toEqual([['output-available'], 'Paid.', 4]);
  });

  it('is no decision again, while the call that was approved asks a question', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'book', input: {} }] }, { text: 'Booked.' }]);
    const posted: unknown[] = [];
    const page = pageOn(await testConversation(support, { model, tools }), 'support', { posted });
    await page.sendMessage({ text: 'Book!' });
    await page.addToolApprovalResponse({ id: page.asked?.approval.id ?? '', approved: true });
    await page.until(
      ({ status, last }) => status === 'ready' && last?.parts.some((part) => JSON.stringify(part).includes('When?')) === true,
    );
    await turnOfTasks();
    expect([statesOf(page), posted.length, page.status]).toEqual([['approval-responded'], 2, 'ready']);
  });

  it('is nothing more, when somebody has stopped the turn that it decides about', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'pay', input: { amount: 5 } }] }]);
    const posted: unknown[] = [];
    const sendAutomaticallyWhen: PageOptions['sendAutomaticallyWhen'] = (shown) =>
      lastAssistantMessageIsCompleteWithToolCalls(shown) || lastAssistantMessageIsCompleteWithApprovalResponses(shown);
    const chat = await testConversation(support, { model, tools });
    const page = pageOn(chat, 'support', { posted, sendAutomaticallyWhen });
    await page.sendMessage({ text: 'Pay!' });
    await chat.stop();
    await page.addToolApprovalResponse({ id: page.asked?.approval.id ?? '', approved: true });
    await page.until(({ status }) => status === 'ready' && statesOf(page).join() !== 'approval-responded');
    await turnOfTasks();
    expect([statesOf(page), posted.length, page.error]).toEqual([['output-error'], 2, undefined]);
  });

  it('is nothing, when a turn ends with what a tool returned', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'look', input: { at: 'a' } }] }]);
    const posted: unknown[] = [];
    const sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithToolCalls;
    const page = pageOn(await testConversation(direct, { model, tools }), 'direct', { posted, sendAutomaticallyWhen });
    await page.sendMessage({ text: 'Look!' });
    await turnOfTasks();
    expect([statesOf(page), posted.length, page.status, page.error]).toEqual([['output-available'], 1, 'ready', undefined]);
  });
});

describe('a turn that asks somebody while it does something else', () => {
  const of = { agent: 'support', runPath: ['support'] };
  const bodies = [
    { type: 'turn-start', turn: 1 },
    {
      ...of,
      type: 'model-end',
      turn: 1,
      address: 'support/t1/model',
      model: 'm',
      message: {
        id: 'a',
        role: 'assistant',
        parts: [
          { type: 'tool-call', id: 'c1', name: 'look', input: { at: 'a' } },
          { type: 'tool-call', id: 'c2', name: 'pay', input: { amount: 5 } },
        ],
      },
    },
    { ...of, type: 'tool-start', tool: 'look', callId: 'c1', input: { at: 'a' }, address: 'support/t1/look.0' },
    {
      type: 'interrupt-start',
      interrupt: {
        id: 'i',
        kind: 'approval',
        tool: 'pay',
        callId: 'c2',
        input: { amount: 5 },
        address: ['support', 't1', 'pay.1', 'approval'],
      },
    },
    {
      ...of,
      type: 'tool-end',
      tool: 'look',
      callId: 'c1',
      address: 'support/t1/look.0',
      message: { id: 'r', role: 'tool', parts: [{ type: 'tool-result', callId: 'c1', name: 'look', output: 'seen' }] },
    },
  ];
  const log = bodies.map((body, offset) => ({ ...body, offset, time: 0 })) as unknown as readonly RunEvent[];

  function threadOn(reads: string[]): Thread {
    let known = 4;
    return {
      id: 'c',
      view: () => Promise.resolve({ status: 'waiting', nextOffset: known } as RunView),
      async *events({ from, until }) {
        reads.push(until);
        if (until === 'end') known = 5;
        yield* await Promise.resolve(log.slice(from, known));
      },
    } as Partial<Thread> as Thread;
  }

  it('is shown until the page has a result of each call that nobody is asked about', async () => {
    const reads: string[] = [];
    const parts = await allOf(turnStream(threadOn(reads), { turn: 1, begins: 0 }, new AbortController().signal));
    expect(parts.map(({ type }) => type).slice(-5)).toEqual([
      'data-holdfast-interrupt',
      'tool-approval-request',
      'tool-output-available',
      'finish-step',
      'finish',
    ]);
    expect([reads, parts.at(-1)]).toEqual([
      ['waiting', 'end'],
      expect.objectContaining({ finishReason: 'tool-calls', messageMetadata: { holdfast: { run: 'c', turn: 1, offset: 5 } } }),
    ]);
  });

  it.each(['length', 'content-filter'] as const)('ends with the reason of a model that was cut off: %s', async (finish) => {
    const cut = [
      { type: 'turn-start', turn: 1 },
      {
        ...of,
        type: 'model-end',
        turn: 1,
        address: 'x',
        model: 'm',
        finish,
        message: { id: 'a', role: 'assistant', parts: [{ type: 'text', text: 'half' }] },
      },
      { type: 'turn-end', turn: 1, status: 'completed', usage: {} },
    ].map((body, offset) => ({ ...body, offset, time: 0 })) as unknown as readonly RunEvent[];
    const chat = {
      id: 'c',
      events: async function* () {
        yield* await Promise.resolve(cut);
      },
    } as Partial<Thread> as Thread;
    const parts = await allOf(turnStream(chat, { turn: 1, begins: 0 }, new AbortController().signal));
    expect(parts.at(-1)).toMatchObject({ type: 'finish', finishReason: finish });
  });
});
