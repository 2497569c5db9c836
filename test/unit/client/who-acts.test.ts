import { z } from 'zod';
import type { WithStartWorkflowOperation } from '@temporalio/client';
import type { Hono } from 'hono';
import { HoldfastClient } from '../../../client/connect';
import type { AgentRunInput } from '../../../contract/record/wire';
import type { PolicyStage } from 'holdfast/middleware';
import { approvalsBy, policy } from 'holdfast/middleware';
import type { TestConversation } from 'holdfast/testing';
import { scriptedModel, testConversation, testRun } from 'holdfast/testing';
import * as a2a from '../../../service/a2a/request';
import { a2aApp } from '../../support/a2a-bed';
import { aguiApp, inputWith } from '../../support/agui-bed';
import { jsonHeaders, modernRequest } from '../../support/mcp-bed';
import { agentWith, approvalOf as asked } from '../../support/memory-bed';
import { paid, refund } from '../../support/paid-refund';
import { ownTools } from '../../../service/mcp/own-tools';
import { appOn, operations } from '../../support/service-app';

/** `asks`: starts a run or writes to a run. `decides`: answers. `acts`: the log names the person. `nobody`: the route names no person. */
type Part = 'asks' | 'decides' | 'acts' | 'nobody';

const parts: Readonly<Record<string, readonly Part[]>> = {
  'POST /runs': ['asks'],
  'POST /runs/:id/interrupts/:interruptId': ['decides'],
  'POST /interrupts/answer': ['decides'],
  'POST /runs/:id/cancel': ['acts'],
  'POST /runs/cancel': ['acts'],
  'POST /runs/:id/resume': ['acts'],
  'POST /runs/:id/retry': ['acts'],
  'POST /runs/retry': ['acts'],
  'POST /runs/:id/upgrade': ['nobody'],
  'POST /runs/upgrade': ['nobody'],
  'POST /runs/:id/terminate': ['nobody'],
  'POST /batches': ['nobody'],
  'POST /batches/:id/stop': ['nobody'],
  'POST /policies/:name/apply': ['acts'],
  'POST /conversations/:id/messages': ['asks'],
  'PATCH /conversations/:id/queue/:message': ['asks'],
  'DELETE /conversations/:id/queue/:message': ['acts'],
  'POST /conversations/:id/title': ['acts'],
  'POST /conversations/:id/pause': ['acts'],
  'POST /conversations/:id/unpause': ['acts'],
  'POST /conversations/:id/stop': ['acts'],
  'POST /conversations/:id/end': ['acts'],
  'POST /agui/:agent': ['asks', 'decides'],
  'POST /agui/:agent/connect': ['asks', 'decides'],
  'POST /agui/:agent/cancel': ['acts'],
  'POST /aisdk/:agent': ['asks', 'decides'],
  'POST /a2a/:agent': ['asks', 'decides', 'acts'],
  'POST /a2a/:agent/': ['asks', 'decides', 'acts'],
  // Starts runs as POST /runs does, in the name of the caller alone.
  'POST /mcp': ['asks', 'decides', 'acts'],
  'DELETE /mcp': ['nobody'],
  'POST /v1/responses': ['asks', 'decides'],
  'POST /v1/responses/:id/cancel': ['nobody'],
  'POST /runs/:id/interrupts/:interruptId/links': ['nobody'],
  'POST /schedules/:name': ['nobody'],
  'POST /schedules/:name/pause': ['nobody'],
  'POST /schedules/:name/resume': ['nobody'],
  'POST /schedules/:name/run': ['nobody'],
  'POST /schedules/:name/backfill': ['nobody'],
  'DELETE /schedules/:name': ['nobody'],
  'POST /keys': ['nobody'],
  'POST /keys/:id/rotate': ['nobody'],
  'DELETE /keys/:id': ['nobody'],
  'POST /decide/:token': ['nobody'],
  'POST /login/key': ['nobody'],
  'POST /logout': ['nobody'],
  'DELETE /v1/responses/:id': ['nobody'],
  'POST /v1/triggers/:name': ['nobody'],
  'POST /triggers/:name/deliveries/:delivery/replay': ['nobody'],
  'DELETE /triggers/:name/deliveries/:delivery': ['nobody'],
  'POST /notices/:notice/send': ['nobody'],
  'DELETE /notices/:notice': ['nobody'],
};

/** Body fields that a protocol leaves to the sender, or that the log already has. */
const open = [
  'POST /agui/:agent messages.items',
  'POST /agui/:agent forwardedProps.anyOf',
  'POST /agui/:agent/connect messages.items',
  'POST /agui/:agent/connect forwardedProps.anyOf',
  'POST /agui/:agent/cancel messages.items',
  'POST /agui/:agent/cancel forwardedProps.anyOf',
  'POST /v1/responses input.anyOf.anyOf.items',
  'POST /v1/responses tools.anyOf.items',
];

function objectsIn(schema: unknown, place: string): readonly (readonly [place: string, fields: readonly string[], isOpen: boolean])[] {
  if (Array.isArray(schema)) return schema.flatMap((one) => objectsIn(one, place));
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties, ...rest } = schema as { readonly properties?: Record<string, unknown>; readonly additionalProperties?: unknown };
  const isOpen = rest.additionalProperties !== false;
  const named = (rest as { readonly type?: unknown }).type === 'object' && (properties !== undefined || !('propertyNames' in rest));
  return [
    ...(named ? [[place, Object.keys(properties ?? {}), isOpen] as const] : []),
    ...Object.entries(properties ?? {}).flatMap(([name, one]) => objectsIn(one, `${place} ${name}`.trim())),
    ...['items', 'anyOf', 'oneOf', 'allOf'].flatMap((key) => objectsIn((rest as Record<string, unknown>)[key], `${place}.${key}`)),
  ];
}

const shapeOf = (schema: z.ZodType): unknown => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
const changing = Object.entries(operations).filter(([route]) => !route.startsWith('GET '));
const a2aSchemas = Object.entries(a2a).flatMap(([name, value]) => (value instanceof z.ZodType ? [[name, value] as const] : []));

const named = changing.flatMap(([route, { body, ownBody, query }]) => {
  if (route.startsWith('POST /a2a/')) return a2aSchemas.flatMap(([, schema]) => objectsIn(shapeOf(schema), route));
  if (route === 'POST /mcp') return objectsIn(ownTools.get('answer_interrupt')?.shown.inputSchema, route);
  return [body, ownBody, query].flatMap((schema) => (schema === undefined ? [] : objectsIn(shapeOf(schema), route)));
});

describe('bodies that say who acts', () => {
  it('are all in the table', () => {
    expect(changing.map(([route]) => route).sort()).toEqual(Object.keys(parts).sort());
  });

  it.each(changing.map(([route]) => route))('call them `by`, and have no other word for them: %s', (route) => {
    const fields = named.flatMap(([place, names]) =>
      place === route || place.startsWith(`${route} `) || place.startsWith(`${route}.`) ? names : [],
    );
    const isProtocolMetadata = route.startsWith('POST /a2a/') && fields.includes('metadata');
    expect(fields.includes('by') || isProtocolMetadata).toBe(parts[route]?.includes('nobody') !== true);
    for (const other of ['from', 'who', 'author', 'sender', 'startedBy']) {
      if (route === 'POST /policies/:name/apply') continue;
      expect(fields).not.toContain(other);
    }
  });

  it('refuse fields that they do not know', () => {
    expect(named.filter(([, , isOpen]) => isOpen).map(([place]) => place)).toEqual(open);
  });
});

const agent = agentWith({ tools: ['refund'], middleware: [approvalsBy('refunds')] });

function world(stages: readonly PolicyStage[]) {
  const pays = { toolCalls: [{ name: 'refund', input: { amount: 80 } }] };
  const model = scriptedModel([pays, { text: 'Done.' }]);
  const refunds = policy<{ refund: typeof refund }>({ name: 'refunds', tools: ['refund'], stages });
  return { model, tools: { refund }, policies: { refunds } };
}

const serving = (app: Hono, method: string, path: string, body: unknown) =>
  app.request(path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

async function sent(app: Hono, path: string, body: unknown, method = 'POST'): Promise<{ status: number; text: string }> {
  const response = await serving(app, method, path, body);
  return { status: response.status, text: await response.text() };
}

const said = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Refund 80' }] };
const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
const speaking = (by: string | undefined): { readonly by?: string } => (by === undefined ? {} : { by });
const inMetadata = (by: string | undefined) => (by === undefined ? {} : { metadata: { by } });

type Response = { readonly id: string; readonly output: readonly { readonly type: string; readonly id: string }[] };
const responses = new Map<TestConversation, Response>();

const ways: Readonly<Record<string, (chat: TestConversation, by: string | undefined) => Promise<unknown>>> = {
  'POST /conversations/:id/messages': (chat, by) =>
    sent(aguiApp(chat), '/conversations/test/messages', { message: 'Refund 80', ...speaking(by) }),
  'PATCH /conversations/:id/queue/:message': async (chat, by) => {
    await chat.pause();
    const first = chat.send('Refund 8', { by: 'sue', id: 'm' });
    await sent(aguiApp(chat), '/conversations/test/queue/m', { message: 'Refund 80', ...speaking(by) }, 'PATCH');
    await chat.unpause();
    await first;
  },
  'POST /agui/:agent': (chat, by) => {
    const messages = [{ id: 'u1', role: 'user', content: 'Refund 80' }];
    return sent(aguiApp(chat), '/agui/agent', inputWith({ messages, forwardedProps: speaking(by) }));
  },
  'POST /aisdk/:agent': (chat, by) => sent(aguiApp(chat), '/aisdk/agent', { id: 'test', messages: [said], ...speaking(by) }),
  'POST /a2a/:agent': (chat, by) => {
    const message = { messageId: 'm', contextId: 'test', role: 'ROLE_USER', parts: [{ text: 'Refund 80' }], ...inMetadata(by) };
    return sent(a2aApp(chat), '/a2a/agent', rpc('SendMessage', { message }));
  },
  'POST /v1/responses': async (chat, by) => {
    const { text } = await sent(aguiApp(chat), '/v1/responses', { model: 'agent', input: 'Refund 80', ...speaking(by) });
    responses.set(chat, JSON.parse(text));
  },
};

type Asked = Awaited<ReturnType<typeof asked>>;

const deciders: Readonly<Record<string, (chat: TestConversation, asks: Asked, by: string | undefined) => Promise<unknown>>> = {
  'POST /runs/:id/interrupts/:interruptId': (chat, { id }, by) =>
    sent(aguiApp(chat), `/runs/test/interrupts/${encodeURIComponent(id)}`, { decision: 'approve', ...speaking(by) }),
  'POST /interrupts/answer': (chat, { id }, by) => {
    const answers = [{ runId: 'test', interruptId: id, decision: 'approve', ...speaking(by) }];
    return sent(aguiApp(chat), '/interrupts/answer', { answers });
  },
  'POST /agui/:agent': (chat, { id }, by) => {
    const resume = [{ interruptId: id, status: 'resolved', payload: { approved: true } }];
    return sent(aguiApp(chat), '/agui/agent', inputWith({ resume, forwardedProps: speaking(by) }));
  },
  'POST /aisdk/:agent': (chat, { id }, by) => {
    const part = { type: 'tool-refund', toolCallId: 'c', state: 'approval-responded', input: {}, approval: { id, approved: true } };
    const messages = [said, { id: 'turn-1', role: 'assistant', parts: [part] }];
    return sent(aguiApp(chat), '/aisdk/agent', { id: 'test', messages, ...speaking(by) });
  },
  'POST /a2a/:agent': async (chat, { id }, by) => {
    const listed = JSON.parse((await sent(a2aApp(chat), '/a2a/agent', rpc('ListTasks', { contextId: 'test' }))).text);
    const data = { interruptId: id, approved: true };
    const message = { messageId: `a-${by}`, taskId: listed.result.tasks[0].id, role: 'ROLE_USER', parts: [{ data }], ...inMetadata(by) };
    return sent(a2aApp(chat), '/a2a/agent', rpc('SendMessage', { message }));
  },
  'POST /mcp': (chat, { id: interruptId }, by) => {
    const given = { runId: 'test', interruptId, answer: { approved: true }, ...speaking(by) };
    const { body, headers } = modernRequest('tools/call', { name: 'answer_interrupt', arguments: given });
    return aguiApp(chat).request('/mcp', {
      method: 'POST',
      headers: { ...jsonHeaders, ...headers },
      body: JSON.stringify(body),
    }) as Promise<unknown>;
  },
  'POST /v1/responses': (chat, _, by) => {
    const { id, output = [] } = responses.get(chat) ?? {};
    const approval = output.find(({ type }) => type === 'mcp_approval_request');
    const input = [{ type: 'mcp_approval_response', approval_request_id: approval?.id, approve: true }];
    return sent(aguiApp(chat), '/v1/responses', { model: 'agent', previous_response_id: id, input, ...speaking(by) });
  },
};

beforeEach(() => (paid.length = 0));

describe('four eyes', () => {
  it('are tried with each body that asks', () => {
    const asking = Object.keys(parts).filter(
      (route) => parts[route]?.includes('asks') === true && !/\/$|connect$|^POST \/(runs|mcp)$/.test(route),
    );
    expect(Object.keys(ways).sort()).toEqual(asking.sort());
  });

  it.each(Object.entries(ways))('are not those of whoever speaks by %s', async (_, say) => {
    const chat = await testConversation(agent, { ...world([{ fourEyes: true }]), by: 'sue' });
    await say(chat, 'ada');
    const { id, notBy, policy: plan } = await asked(chat.run);
    expect([notBy, plan?.stage.need]).toEqual([['sue', 'ada'], 1]);
    await expect(chat.run.approve(id, { by: 'ada' })).rejects.toMatchObject({ code: 'answer-forbidden' });
  });

  it.each(Object.entries(ways))('are one person more than the policy asks where nobody says who speaks by %s', async (_, say) => {
    for (const need of [1, 2, 3]) {
      const chat = await testConversation(agent, { ...world([{ need, fourEyes: true }]), by: 'sue' });
      await say(chat, undefined);
      expect((await asked(chat.run)).policy?.stage.need).toBe(need + 1);
    }
  });

  it('are tried with each body that decides', () => {
    const deciding = Object.keys(parts).filter((route) => parts[route]?.includes('decides') === true && !/\/$|connect$/.test(route));
    expect(Object.keys(deciders).sort()).toEqual(deciding.sort());
  });

  it.each(Object.entries(deciders))('are those of somebody else, who is named, with each decision by %s', async (route, decide) => {
    const chat = await testConversation(agent, { ...world([{ fourEyes: true }]), by: 'sue' });
    await (ways[route] ?? ways['POST /conversations/:id/messages'])?.(chat, 'ada');
    for (const by of [undefined, 'sue', 'ada', 'bob']) {
      expect(paid).toEqual([]);
      await decide(chat, await asked(chat.run), by);
      await chat.run.outcome();
    }
    expect(paid).toEqual([80]);
  });

  it.each([
    ['nobody', undefined, 3],
    ['somebody', 'sue', 2],
  ])('know a run that %s has started by POST /runs', async (_, by, need) => {
    const begun: unknown[] = [];
    const start = (...[, , options]: readonly [string, unknown, object]) => (
      begun.push(options),
      Promise.resolve({ id: 'r', isNew: true, ignored: [] })
    );
    const app = appOn({ start }, { agents: [{ name: 'agent', description: 'Under test.', takesJob: false }] });
    await sent(app, '/runs', { agent: 'agent', input: 'Refund 80', ...speaking(by) });
    const run = await testRun(agent, { input: 'Refund 80', ...world([{ need: 2, fourEyes: true }]), ...(begun[0] as object) });
    expect((await asked(run)).policy?.stage.need).toBe(need);
  });

  it('know that whoever says the first word has started the conversation', async () => {
    const starts: (string | undefined)[] = [];
    const workflow = {
      executeUpdateWithStart: (_: string, { startWorkflowOperation }: { startWorkflowOperation: WithStartWorkflowOperation<never> }) => {
        const { args } = startWorkflowOperation.options as unknown as { readonly args: readonly [AgentRunInput] };
        starts.push(args[0].start.by);
        return Promise.resolve({ sent: [{ id: 'm', turn: 1 }] });
      },
    };
    const connection = { plugins: [], options: { address: '127.0.0.1:7233' }, withDeadline: (_: unknown, run: () => unknown) => run() };
    const client = new HoldfastClient({ connection: connection as never, namespace: 'default', close: async () => undefined });
    Object.assign(client['parts'], { workflow });
    await client.conversation('agent', 'a').send('Refund 80', { by: 'ada' });
    await client.conversation('agent', 'b', { by: 'sue' }).send('Refund 80', { by: 'ada' });
    await client.conversation('agent', 'c').send('Refund 80');
    expect(starts).toEqual(['ada', 'sue', undefined]);
  });
});
