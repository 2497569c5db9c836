import OpenAI from 'openai';
import { askedBy, eventsOf } from '../support/responses-bed';
import type { ServiceBed } from './service-bed';
import { startServiceBed } from './service-bed';

let bed: ServiceBed;
let client: OpenAI;
beforeAll(async () => {
  bed = await startServiceBed();
  client = new OpenAI({ baseURL: `${bed.url}/v1`, apiKey: 'none', maxRetries: 0 });
});
afterAll(() => bed.close());

const model = 'support';
const refund = 'Refund order 42, it arrived broken';
const rolesOf = async (conversation: string): Promise<readonly string[]> =>
  (await bed.client.run(conversation).view()).messages.map(({ role }) => role);

describe('the client of OpenAI at /v1', () => {
  it('begins a conversation under the run_id of the metadata, once', async () => {
    const post = () => client.responses.create({ model, input: 'Hello', metadata: { run_id: 'responses-1' } });
    const [first, again] = await Promise.all([post(), post()]);
    expect(again).toEqual(first);
    expect(await rolesOf('responses-1')).toEqual(['user', 'assistant']);
    const next = await client.responses.create({
      model,
      input: 'Hello',
      previous_response_id: first.id,
      metadata: { run_id: 'responses-1' },
    });
    expect([next.id === first.id, next.metadata]).toEqual([false, { run_id: 'responses-1' }]);
    expect(await rolesOf('responses-1')).toEqual(['user', 'assistant', 'user', 'assistant']);
  });

  it('takes the first one of different messages after one response that come at the same moment', async () => {
    const first = await client.responses.create({ model, input: 'Hello', metadata: { run_id: 'responses-race' } });
    const say = (order: number) =>
      client.responses.create({ model, input: `Refund order ${order}, it arrived broken`, previous_response_id: first.id });
    const settled = await Promise.allSettled([41, 42, 43, 44].map(say));
    expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected']);
    for (const one of settled) if (one.status === 'rejected') expect(one.reason).toMatchObject({ status: 400, code: 'response-outdated' });
    expect((await rolesOf('responses-race')).filter((role) => role === 'user')).toHaveLength(2);
  });

  it('begins a conversation with what was said before', async () => {
    await client.responses.create({
      model,
      metadata: { run_id: 'responses-2' },
      input: [
        { role: 'user', content: 'I am Ada.' },
        { role: 'assistant', content: 'Hello.' },
        { role: 'user', content: 'Who am I?' },
      ],
    });
    expect(await rolesOf('responses-2')).toEqual(['user', 'assistant', 'user', 'assistant']);
  });

  it('shows a text piece by piece while it comes', async () => {
    const events = await eventsOf(await client.responses.create({ model, input: 'Hello', stream: true }));
    expect(events.filter(({ type }) => type === 'response.output_text.delta').length).toBeGreaterThan(1);
  });

  it('approves what somebody was asked in the background, with who decides', async () => {
    const started = await client.responses.create({
      model,
      input: refund,
      background: true,
      metadata: { run_id: 'responses-3', ticket: '7' },
    });
    expect(started).toMatchObject({ status: 'queued', metadata: { ticket: '7' } });
    const asking = await client.responses.stream({ response_id: started.id }).finalResponse();
    const answer = { type: 'mcp_approval_response', approval_request_id: askedBy(asking), approve: true, reason: 'fine' } as const;
    const body = { model, previous_response_id: asking.id, input: [answer], by: 'ada' };
    const paid = await client.responses.create(body);
    expect(paid).toMatchObject({ status: 'completed', metadata: { ticket: '7' }, previous_response_id: asking.id });
    const ends = [];
    for await (const event of bed.client.run('responses-3').events({ until: 'waiting', deltas: false }))
      if (event.type === 'interrupt-end') ends.push(event);
    expect(ends).toMatchObject([{ by: 'ada', answer: { type: 'approve', comment: 'fine' } }]);
  });

  it('queues what comes while a turn is at work, and takes it back', async () => {
    const first = await client.responses.create({ model, input: 'Hello', background: true, metadata: { run_id: 'responses-4' } });
    const second = await client.responses.create({ model, input: 'And more', background: true, previous_response_id: first.id });
    const ended = await client.responses.cancel(second.id);
    const shown = await client.responses.stream({ response_id: first.id }).finalResponse();
    expect([shown.status, ['cancelled', 'completed'].includes(ended.status ?? '')]).toEqual(['completed', true]);
    expect(await client.responses.retrieve(second.id)).toMatchObject({ id: second.id, status: ended.status });
  });

  it('stops a turn whose response is cancelled', async () => {
    const asked: Promise<OpenAI.Responses.Response>[] = [];
    const stream = await client.responses.create({ model, input: 'Hello', stream: true });
    const events = [];
    for await (const event of stream) {
      events.push(event);
      if (event.type === 'response.created') asked.push(client.responses.cancel(event.response.id));
    }
    const [cancelled] = await Promise.all(asked);
    expect(['cancelled', 'completed']).toContain(cancelled?.status);
    expect(events.at(-1)).toMatchObject({ response: { id: cancelled?.id, status: cancelled?.status } });
  });

  it.each([
    [
      'a response of another agent',
      async () => ({ model: 'other', input: 'Hi', previous_response_id: (await client.responses.create({ model, input: 'Hello' })).id }),
      404,
      'agent-unknown',
    ],
    [
      'a run that is not a conversation',
      async () =>
        (await bed.client.start('support', 'Hello', { id: 'responses-5' })) && { model, input: 'Hi', metadata: { run_id: 'responses-5' } },
      400,
      'not-a-conversation',
    ],
    [
      'a conversation that has ended',
      async () => {
        const { id } = await client.responses.create({ model, input: 'Hello', metadata: { run_id: 'responses-6' } });
        await bed.client.conversation(undefined, 'responses-6').end();
        return { model, input: 'Hi', previous_response_id: id };
      },
      400,
      'conversation-ended',
    ],
  ])('refuses %s, and never with 409', async (_, bodyOf, status, code) => {
    await expect(client.responses.create(await bodyOf())).rejects.toMatchObject({ status, code });
  });
});

describe('a response', () => {
  it('is the same at another service', async () => {
    const response = await client.responses.create({ model, input: 'Hello', metadata: { ticket: '7' } });
    const service = await bed.another();
    const other = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: 'none', maxRetries: 0 });
    expect(await other.responses.retrieve(response.id)).toEqual(response);
    expect((await other.responses.stream({ response_id: response.id }).finalResponse()).output_text).toBe(response.output_text);
    await service.close();
  });

  it('is queued until there is a worker', async () => {
    await bed.stopWorkers();
    const response = await client.responses.create({ model, input: 'Hello', background: true, metadata: { run_id: 'responses-7' } });
    expect(await client.responses.retrieve(response.id)).toMatchObject({ id: response.id, status: 'queued', output: [] });
    await bed.deploy(bed.project.agentsFile);
    const ended = await client.responses.stream({ response_id: response.id }).finalResponse();
    expect(ended).toMatchObject({ id: response.id, status: 'completed', metadata: { run_id: 'responses-7' } });
  });
});
