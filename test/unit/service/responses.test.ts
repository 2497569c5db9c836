import type OpenAI from 'openai';
import { allOf } from '../../support/all-of';
import { agentWith, tools } from '../../support/memory-bed';
import type { OpenAiResponse } from '../../support/responses-bed';
import { askedBy, openAiAt, responsesApp, shortItem } from '../../support/responses-bed';
import { approval, askHuman } from '../../../middleware/index';
import type { Script, TestConversation } from '../../../testing/index';
import { scriptedModel, testConversation } from '../../../testing/index';

const careful = agentWith({ middleware: [approval({ tools: { add: true } }), askHuman()] });
const add = (a: number) => ({ name: 'add', input: { a } });

interface Bed {
  readonly chat: TestConversation;
  readonly client: OpenAI;
  say(input: string, more?: object): Promise<OpenAiResponse>;
  decide(after: OpenAiResponse, approve: boolean, more?: object): Promise<OpenAiResponse>;
}

async function bedWith(...steps: readonly Script[number][]): Promise<Bed> {
  const chat = await testConversation(careful, { model: scriptedModel(steps), tools });
  const client = openAiAt(responsesApp(chat));
  return {
    chat,
    client,
    say: (input, more = {}) => client.responses.create({ model: 'agent', input, ...more, stream: false }),
    decide: (after, approve, more = {}) =>
      client.responses.create({
        model: 'agent',
        previous_response_id: after.id,
        input: [{ type: 'mcp_approval_response', approval_request_id: askedBy(after), approve }],
        ...more,
        stream: false,
      }),
  };
}

const shorts = ({ output }: OpenAiResponse): readonly string[] => output.map(shortItem);

describe('the Responses API', () => {
  it('shows a turn as a response: calls with their results, texts, what it used', async () => {
    const { say, client } = await bedWith(
      {
        text: 'I look.',
        toolCalls: [
          { name: 'echo', input: { text: 'a' } },
          { name: 'fail', input: {} },
        ],
      },
      { text: 'Done.', usage: { inputTokens: 2, outputTokens: 1 } },
    );
    const response = await say('Look!', { metadata: { ticket: '7' } });
    expect(shorts(response)).toEqual([
      'message I look.',
      'mcp_call echo {"text":"a"} a',
      expect.stringContaining('mcp_call fail {} '),
      'message Done.',
    ]);
    expect(response).toMatchObject({
      status: 'completed',
      model: 'agent',
      metadata: { ticket: '7' },
      previous_response_id: null,
      error: null,
    });
    expect(response.output_text).toBe('I look.Done.');
    expect(response.usage).toMatchObject({ input_tokens: 2, output_tokens: 1, total_tokens: 3 });
    expect(response.output[2]).toMatchObject({ status: 'failed', output: null, error: expect.stringContaining('out of order') });
    expect(await client.responses.retrieve(response.id)).toEqual(response);
  });

  it('goes on with the conversation behind the response that is named, and does not branch', async () => {
    const { say, client, chat } = await bedWith({ text: 'One.' }, { text: 'Two.' });
    const one = await say('Hi');
    const two = await say('And?', { previous_response_id: one.id, metadata: { a: 'b' } });
    expect([two.output_text, two.previous_response_id]).toEqual(['Two.', one.id]);
    expect(await client.responses.retrieve(two.id)).toEqual(two);
    const outdated = { status: 400, code: 'response-outdated', message: expect.stringContaining(two.id) };
    await expect(say('Or?', { previous_response_id: one.id })).rejects.toMatchObject(outdated);
    expect((await chat.run.view()).messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  });

  it('ends where an approval waits, goes on as another response, once for the same answer, and refuses another answer', async () => {
    const { say, decide, client } = await bedWith({ text: 'Sum.', toolCalls: [add(1)] }, { text: 'Two.' });
    const asking = await say('Add!');
    expect([asking.status, shorts(asking)]).toEqual(['completed', ['message Sum.', 'asks add {"a":1,"b":1}']]);
    const done = await decide(asking, true);
    expect([done.status, shorts(done), done.previous_response_id]).toEqual([
      'completed',
      ['mcp_call add {"a":1,"b":1} {"sum":2}', 'message Two.'],
      asking.id,
    ]);
    expect(done.output[0]).toMatchObject({ approval_request_id: askedBy(asking) });
    expect(await client.responses.retrieve(done.id)).toEqual(done);
    expect(await client.responses.retrieve(asking.id)).toEqual(asking);
    const { data } = await client.responses.inputItems.list(done.id);
    expect(data).toMatchObject([{ type: 'mcp_approval_response', approval_request_id: askedBy(asking), approve: true }]);
    expect(await decide(asking, true)).toEqual(done);
    await expect(decide(asking, false)).rejects.toMatchObject({ status: 400, code: 'interrupt-answered' });
  });

  it('names what still waits in each response', async () => {
    const { say, decide, client } = await bedWith({ toolCalls: [add(1), add(2)] }, { text: 'Both.' });
    const asking = await say('Add!');
    expect(shorts(asking)).toEqual(['asks add {"a":1,"b":1}', 'asks add {"a":2,"b":1}']);
    const first = await decide(asking, true);
    expect(shorts(first).at(-1)).toBe('asks add {"a":2,"b":1}');
    const second = await decide(first, false);
    expect(shorts(second).at(-1)).toBe('message Both.');
    for (const response of [asking, first, second]) expect(await client.responses.retrieve(response.id)).toEqual(response);
  });

  it('takes several answers at once', async () => {
    const { say, client } = await bedWith({ toolCalls: [add(1), add(2)] }, { text: 'Both.' });
    const asking = await say('Add!');
    const answers = asking.output.flatMap((item) =>
      item.type === 'mcp_approval_request' ? [{ type: 'mcp_approval_response' as const, approval_request_id: item.id, approve: true }] : [],
    );
    const done = await client.responses.create({ model: 'agent', previous_response_id: asking.id, input: answers });
    expect(shorts(done)).toEqual(['mcp_call add {"a":1,"b":1} {"sum":2}', 'mcp_call add {"a":2,"b":1} {"sum":3}', 'message Both.']);
    expect(await client.responses.retrieve(done.id)).toEqual(done);
  });

  it('shows what came of an answer that somebody gave elsewhere', async () => {
    const { say, client, chat } = await bedWith({ toolCalls: [add(1)] }, { text: 'Two.' });
    const asking = await say('Add!');
    const goOn = () => client.responses.create({ model: 'agent', previous_response_id: asking.id, input: [] });
    await expect(goOn()).rejects.toMatchObject({ status: 400, code: 'interrupts-open' });
    await chat.run.approve(askedBy(asking));
    expect((await goOn()).output_text).toBe('Two.');
    expect(shorts(await client.responses.retrieve(asking.id))).toEqual(shorts(asking));
  });

  it('asks a question in words, and takes the next message as its answer', async () => {
    const { say, client } = await bedWith(
      { toolCalls: [{ name: 'askHuman', input: { question: 'Which?', options: ['red', 'blue'] } }] },
      { text: 'Red it is.' },
    );
    const asking = await say('Paint!');
    expect(asking.output_text).toBe('Which?\n\nAnswer one of: red, blue.');
    await expect(say('green', { previous_response_id: asking.id })).rejects.toMatchObject({ status: 400, code: 'answer-invalid' });
    const done = await say('red', { previous_response_id: asking.id });
    expect(done.output_text).toBe('Red it is.');
    expect(await say('red', { previous_response_id: asking.id })).toEqual(done);
    expect(await client.responses.retrieve(done.id)).toEqual(done);
  });

  it('takes no message that is sent again for the answer to what it has caused', async () => {
    const ask = { toolCalls: [{ name: 'askHuman', input: { question: 'Delete it?' } }] };
    const { say, chat } = await bedWith({ text: 'Hello.' }, ask, { text: 'Kept.' });
    const first = await say('Hi');
    const asking = await say('Tidy up.', { previous_response_id: first.id });
    expect(shorts(asking)).toContain('message Delete it?');
    expect((await say('Tidy up.', { previous_response_id: first.id })).id).toBe(asking.id);
    expect(await chat.run.interrupts()).toHaveLength(1);
    expect((await say('no', { previous_response_id: asking.id })).output_text).toBe('Kept.');
  });

  it('takes an answer that is sent again for no later question, and no message for a question that its sender has not seen', async () => {
    const ask = (question: string) => ({ toolCalls: [{ name: 'askHuman', input: { question } }] });
    const { say, chat } = await bedWith({ text: 'Hello.' }, ask('Delete the draft?'), ask('Delete the account?'), { text: 'Kept.' });
    const first = await say('Hi');
    const one = await say('Tidy up.', { previous_response_id: first.id });
    const two = await say('yes', { previous_response_id: one.id });
    expect(shorts(two)).toContain('message Delete the account?');
    for (const more of [{}, { metadata: { run_id: 'again' } }])
      expect((await say('yes', { previous_response_id: one.id, ...more })).id).toBe(two.id);
    for (const after of [first, one])
      await expect(say('Something else', { previous_response_id: after.id })).rejects.toMatchObject({
        status: 400,
        code: 'interrupts-open',
      });
    expect(await chat.run.interrupts()).toHaveLength(1);
    expect((await say('no', { previous_response_id: two.id })).output_text).toBe('Kept.');
  });

  it('gives none of two answers to one question', async () => {
    const { say, client, chat } = await bedWith({ toolCalls: [add(1)] }, { text: 'Added.' });
    const asking = await say('Add.');
    const answer = (approve: boolean) => ({ type: 'mcp_approval_response' as const, approval_request_id: askedBy(asking), approve });
    const both = (input: ReturnType<typeof answer>[]) =>
      client.responses.create({ model: 'agent', previous_response_id: asking.id, input, stream: false });
    await expect(both([answer(true), answer(false)])).rejects.toMatchObject({ status: 400, code: 'answer-invalid' });
    expect(await chat.run.interrupts()).toHaveLength(1);
    expect((await both([answer(true), answer(true)])).output_text).toBe('Added.');
  });

  it('refuses a key that had another input', async () => {
    const { say } = await bedWith({ text: 'One.' }, { text: 'Two.' });
    const first = await say('Hi', { metadata: { run_id: 'k' } });
    expect((await say('Hi', { metadata: { run_id: 'k' } })).id).toBe(first.id);
    await expect(say('Ho', { metadata: { run_id: 'k' } })).rejects.toMatchObject({ status: 400, code: 'run-id-in-use' });
    const more = { previous_response_id: first.id, metadata: { run_id: 'l' } };
    await say('Next', more);
    await expect(say('Other', more)).rejects.toMatchObject({ status: 400, code: 'run-id-in-use' });
  });

  it('that waits for its turn is cancelled, and no turn takes its message', async () => {
    const { say, client, chat } = await bedWith({ text: 'One.' });
    const { id: previous_response_id } = await say('First.');
    await chat.pause();
    const queued = await client.responses.create({ model: 'agent', input: 'Second.', background: true, previous_response_id });
    expect(queued.status).toBe('queued');
    expect(await client.responses.cancel(queued.id)).toMatchObject({ id: queued.id, status: 'cancelled' });
    expect(await client.responses.retrieve(queued.id)).toMatchObject({ id: queued.id, status: 'cancelled' });
    expect((await chat.view()).queue).toEqual([]);
  });

  it('that waits for an approval is cancelled with its turn, and the next message begins another one', async () => {
    const { say, decide, client } = await bedWith({ toolCalls: [add(1)] }, { text: 'Two.' });
    const asking = await say('Add!');
    expect(asking.status).toBe('completed');
    expect((await client.responses.cancel(asking.id)).status).toBe('cancelled');
    await expect(decide(asking, true)).rejects.toMatchObject({ code: expect.stringMatching(/^interrupt-/) });
    expect((await say('Never mind.', { previous_response_id: asking.id })).output_text).toBe('Two.');
  });

  it('is not cancelled by a page of another site', async () => {
    const { say, chat } = await bedWith({ text: 'One.' });
    const { id } = await say('Hi');
    const app = responsesApp(chat);
    const cancel = async (headers: Record<string, string>): Promise<number> =>
      (await app.request(`/v1/responses/${id}/cancel`, { method: 'POST', headers })).status;
    const origin = 'https://evil.example.com';
    expect(await Promise.all([cancel({ 'content-type': 'text/plain' }), cancel({ origin }), cancel({})])).toEqual([400, 400, 200]);
    expect(await cancel({ origin, 'content-type': 'application/json' })).toBe(200);
  });

  it('says the same message after the same response once, and again when its turn has failed', async () => {
    const { say, chat } = await bedWith({ text: 'One.' }, { error: 'No.' }, { text: 'Two.' });
    const one = await say('Hi');
    const failed = await say('And?', { previous_response_id: one.id });
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'model-failed', message: expect.stringContaining('No.') } });
    const two = await say('And?', { previous_response_id: one.id });
    expect([two.status, two.output_text]).toEqual(['completed', 'Two.']);
    expect(await say('And?', { previous_response_id: one.id })).toEqual(two);
    const said = (await chat.transcript()).messages.filter(({ message }) => message.role === 'user');
    expect(said).toHaveLength(3);
  });

  it('gives a request with the same key the same response', async () => {
    const { client, chat } = await bedWith({ text: 'One.' }, { text: 'Two.' });
    const post = (input: string) => client.responses.create({ model: 'agent', input }, { headers: { 'Idempotency-Key': 'k1' } });
    const [first, again] = [await post('Hi'), await post('Hi')];
    expect(again).toEqual(first);
    expect((await chat.run.view()).messages).toHaveLength(2);
  });

  it('streams events from which the helper makes the same response', async () => {
    const { client, say } = await bedWith({ text: 'Sum.', toolCalls: [add(1)] }, { text: 'Two.' });
    const helper = client.responses.stream({ model: 'agent', input: 'Add!' });
    const asking = await helper.finalResponse();
    expect(await client.responses.retrieve(asking.id)).toMatchObject({
      output: asking.output.map(({ id }) => ({ id })),
      status: 'completed',
    });
    const events = await allOf(await client.responses.retrieve(asking.id, { stream: true }));
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.output_item.done',
      'response.completed',
    ]);
    await expect(say('Never mind.', { previous_response_id: asking.id })).rejects.toMatchObject({ status: 400, code: 'interrupts-open' });
  });

  it('shows the rest to a reader that comes back, from any event on', async () => {
    const { client } = await bedWith({ text: 'Look.', toolCalls: [{ name: 'echo', input: { text: 'a' } }] }, { text: 'Seen.' });
    const all = await allOf(await client.responses.create({ model: 'agent', input: 'Look!', stream: true }));
    const id = 'response' in all[0]! ? all[0].response.id : '';
    for (const [position, { sequence_number: after }] of all.entries()) {
      const rest = await allOf(await client.responses.retrieve(id, { stream: true, starting_after: after }));
      expect(rest.map(({ sequence_number, type }) => [sequence_number, type])).toEqual(
        all.slice(position + 1).map(({ sequence_number, type }) => [sequence_number, type]),
      );
    }
  });

  it('begins a conversation with what was said before', async () => {
    const { client } = await bedWith({ text: 'Yes.' });
    const response = await client.responses.create({
      model: 'agent',
      input: [
        { role: 'user', content: 'My name is Ada.' },
        { role: 'assistant', content: 'Hello.' },
        { role: 'user', content: [{ type: 'input_text', text: 'Who am I?' }] },
      ],
    });
    const { data } = await client.responses.inputItems.list(response.id);
    expect(data).toMatchObject([{ role: 'user', content: [{ type: 'input_text', text: 'Who am I?' }] }]);
  });
});

describe('what the Responses API refuses', () => {
  const said = { model: 'agent', input: 'Hi' };
  const refusals: readonly (readonly [what: string, body: unknown, status: number, code: string])[] = [
    ['a body that is not JSON', '{', 400, 'request-invalid'],
    ['no model', { input: 'Hi' }, 400, 'request-invalid'],
    ['an agent that there is not', { ...said, model: 'nobody' }, 404, 'agent-unknown'],
    ['no input', { model: 'agent' }, 400, 'request-invalid'],
    ['an empty message', { ...said, input: '' }, 400, 'input-invalid'],
    ['an input of another type', { ...said, input: 5 }, 400, 'request-invalid'],
    ['an item that is not an object', { ...said, input: ['Hi'] }, 400, 'request-invalid'],
    ['a message without content', { ...said, input: [{ role: 'user' }] }, 400, 'request-invalid'],
    ['a type of items that it does not know', { ...said, input: [{ type: 'computer_call' }] }, 400, 'request-unsupported'],
    ['a message of the system', { ...said, input: [{ role: 'system', content: 'Obey.' }] }, 400, 'request-unsupported'],
    ['a file', { ...said, input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }] }, 400, 'request-unsupported'],
    ['instructions', { ...said, instructions: 'Obey.' }, 400, 'request-unsupported'],
    ['tools that the agent does not take', { ...said, tools: [{ type: 'function', name: 'x' }] }, 400, 'client-tools-refused'],
    ['tools of OpenAI', { ...said, tools: [{ type: 'web_search' }] }, 400, 'request-unsupported'],
    ['a tool without a name', { ...said, tools: [{ type: 'function' }] }, 400, 'request-invalid'],
    ['a conversation', { ...said, conversation: 'conv_1' }, 400, 'request-unsupported'],
    ['a prompt', { ...said, prompt: { id: 'p' } }, 400, 'request-unsupported'],
    ['another form of the output', { ...said, text: { format: { type: 'json_object' } } }, 400, 'request-unsupported'],
    ['to forget', { ...said, store: false }, 400, 'request-unsupported'],
    ['metadata that is not text', { ...said, metadata: { a: 1 } }, 400, 'request-invalid'],
    ['a response that is not of here', { ...said, previous_response_id: 'resp_none' }, 404, 'response-unknown'],
    [
      'an answer to nobody',
      { model: 'agent', input: [{ type: 'mcp_approval_response', approval_request_id: 'a', approve: true }] },
      400,
      'request-invalid',
    ],
    ['9 MB', { ...said, input: 'x'.repeat(9_000_000) }, 413, 'input-too-large'],
    ['a message of 300 KB', { ...said, input: 'x'.repeat(300_000) }, 413, 'input-too-large'],
  ];

  it.each(refusals)('%s', async (_, body, status, code) => {
    const chat = await testConversation(careful, { model: scriptedModel([]), tools });
    const response = await responsesApp(chat).request('/v1/responses', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    expect([response.status, await response.json()]).toEqual([
      status,
      { error: { code, message: expect.any(String), type: 'invalid_request_error', param: null, fix: expect.any(String) } },
    ]);
    expect((await chat.run.view()).messages).toEqual([]);
  });

  it('an approval that nobody asks for, and a result of a call that nobody made', async () => {
    const { say, client } = await bedWith({ toolCalls: [add(1)] });
    const { id: previous_response_id } = await say('Add!');
    const answer = (item: OpenAI.Responses.ResponseInputItem) =>
      client.responses.create({ model: 'agent', previous_response_id, input: [item] });
    const unknown = { status: 404, code: 'interrupt-unknown' };
    await expect(answer({ type: 'mcp_approval_response', approval_request_id: 'forged', approve: true })).rejects.toMatchObject(unknown);
    await expect(answer({ type: 'function_call_output', call_id: 'add-0', output: '2' })).rejects.toMatchObject(unknown);
  });

  it('ids of responses that are damaged, or of which the log has nothing', async () => {
    const { say, client } = await bedWith({ toolCalls: [add(1)] });
    const { id } = await say('Add!');
    const damaged = [`${id}x`, id.slice(0, -1), id.replace('resp_', 'msg_'), id.slice(0, 20) + 'A' + id.slice(21), 'resp_', '%00'];
    for (const one of damaged) await expect(client.responses.retrieve(one)).rejects.toMatchObject({ status: 404 });
  });

  it('to join a conversation that no request of this protocol began', async () => {
    const { say, chat } = await bedWith({ text: 'One.' }, { text: 'Two.' });
    await chat.send('From another protocol.');
    await expect(say('Hi', { metadata: { run_id: 'k' } })).rejects.toMatchObject({ status: 400, code: 'run-id-in-use' });
    expect((await chat.view()).turn).toBe(1);
  });

  it('to stream from a number that no event of the response has', async () => {
    const { say, client } = await bedWith({ text: 'Hi.' });
    const { id } = await say('Hi');
    const last = (await allOf(await client.responses.retrieve(id, { stream: true }))).at(-1)!.sequence_number;
    expect(await allOf(await client.responses.retrieve(id, { stream: true, starting_after: last - 1 }))).toHaveLength(1);
    const beyond = client.responses.retrieve(id, { stream: true, starting_after: last * 1000 });
    await expect(beyond).rejects.toMatchObject({ status: 400, code: 'request-invalid' });
  });

  it('to delete a response, which is a part of a log', async () => {
    const { say, client } = await bedWith({ text: 'Hi.' });
    const { id } = await say('Hi');
    await expect(client.responses.delete(id)).rejects.toMatchObject({ status: 400, code: 'request-unsupported' });
    expect((await client.responses.retrieve(id)).output_text).toBe('Hi.');
  });
});
