import type { BaseEvent } from '@ag-ui/client';
import { HttpAgent, runHttpRequest, transformHttpEventStream } from '@ag-ui/client';
import OpenAI from 'openai';
import type { ModelChunk, LanguageModel } from '../../activities/models/language-model';
import type { Json } from '../../contract/messages/messages';
import { textOf } from '../../contract/messages/messages';
import { createLogger } from '../../host/logger';
import { ServiceClient } from '../../client/http/index';
import type { RunningService } from '../../service/http/start-service';
import { startService } from '../../service/http/start-service';
import { a2aClient, stateOf, textsOf as textsOfTask } from '../support/a2a-bed';
import { PageChat, textsOf, toolsOf } from '../support/ai-sdk-page';
import { gate } from '../support/gate';
import type { TestBed } from '../support/test-bed';
import { startTestBed } from '../support/test-bed';

/*
 * Five unmodified clients (OpenAI, AI SDK, AG-UI, A2A, service) join one run in the middle of a text, and must see equal text, calls and
 * end.
 */

const door = gate();
const half = 'Half of it, ';
const whole = 'Half of it, and the rest.';

const model: LanguageModel = {
  generate: () => Promise.reject(new Error('This test streams.')),
  async *stream({ messages }): AsyncGenerator<ModelChunk> {
    if (!messages.some(({ role }) => role === 'tool')) {
      yield { type: 'part', part: { type: 'tool-call', id: 'call', name: 'echo', input: { text: 'seen' } } };
    } else {
      yield { type: 'text', text: half };
      await door.pass();
      yield { type: 'text', text: whole.slice(half.length) };
    }
    yield { type: 'finish', usage: { inputTokens: 1, outputTokens: 1 } };
  },
};

interface Seen {
  readonly text: string;
  readonly calls?: readonly Json[];
  readonly end: string;
}

const run = `five-${process.pid}`;
let bed: TestBed;
let service: RunningService;
let url: string;
beforeAll(async () => {
  bed = await startTestBed(() => ({ parts: [] }), { models: { providers: { test: { model: () => model } } } });
  const agents = [{ name: 'plain', description: 'Answers.', takesJob: false }];
  service = await startService({ client: bed.client, agents, logger: createLogger({ level: 'silent' }), host: '127.0.0.1', port: 0 });
  url = service.url;
});
afterAll(async () => {
  await service.close();
  await bed.close();
});

/** Settles when a client has seen the first half. The text then continues. */
type Half = () => void;

async function openAi(sawHalf: Half): Promise<Seen> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
  const { id } = await client.responses.create({ model: 'plain', input: 'Say it.', background: true, metadata: { run_id: run } });
  let response: OpenAI.Responses.Response | undefined;
  for await (const event of await client.responses.retrieve(id, { stream: true })) {
    if (event.type === 'response.output_text.delta') sawHalf();
    if (event.type === 'response.completed') response = event.response;
  }
  const calls = response?.output.flatMap((item) =>
    item.type === 'mcp_call' ? [[item.name, JSON.parse(item.arguments) as Json, item.output ?? null]] : [],
  );
  const text = response?.output.flatMap((item) =>
    item.type === 'message' ? item.content.map((part) => (part.type === 'output_text' ? part.text : '')) : [],
  );
  return { text: text?.join('') ?? '', calls: calls ?? [], end: response?.status ?? '' };
}

async function aiSdk(sawHalf: Half): Promise<Seen> {
  const page = new PageChat(`${url}/aisdk/plain`, { id: run });
  const resuming = page.resumeStream();
  await page.until(({ text }) => text !== '');
  sawHalf();
  await resuming;
  const last = page.last;
  if (last === undefined) throw new Error('The page shows nothing.');
  const calls = toolsOf(last).map(({ type, input, output }: { type: string; input: Json; output: Json }) => [type.slice(5), input, output]);
  return { text: textsOf(last), calls, end: page.error === undefined && page.status === 'ready' ? 'completed' : page.status };
}

class Thread extends HttpAgent {
  override connect(input: Parameters<HttpAgent['run']>[0]): ReturnType<HttpAgent['run']> {
    return transformHttpEventStream(runHttpRequest(() => fetch(`${this.url}/connect`, this.requestInit(input))));
  }
}

async function agUi(sawHalf: Half): Promise<Seen> {
  const agent = new Thread({ url: `${url}/agui/plain`, threadId: run });
  let last: BaseEvent | undefined;
  agent.subscribe({
    onEvent: ({ event }) => {
      last = event;
      if (String(event.type) === 'TEXT_MESSAGE_CONTENT') sawHalf();
    },
  });
  await agent.connectAgent();
  const results = new Map(agent.messages.flatMap((message) => (message.role === 'tool' ? [[message.toolCallId, message.content]] : [])));
  const calls = agent.messages.flatMap((message) =>
    message.role === 'assistant'
      ? (message.toolCalls ?? []).map(({ id, function: { name, arguments: input } }) => [
          name,
          JSON.parse(input) as Json,
          results.get(id) ?? null,
        ])
      : [],
  );
  const said = agent.messages.filter(({ role }) => role === 'assistant').at(-1)?.content;
  const { outcome } = last as BaseEvent & { readonly outcome?: { readonly type: string } };
  return { text: String(said), calls: calls, end: outcome?.type === 'success' ? 'completed' : String(outcome?.type) };
}

async function a2a(message: string, sawHalf: Half): Promise<Seen> {
  const client = await a2aClient(fetch, `${url}/a2a/plain/`);
  const id = `${run}~${message}`;
  for await (const update of client.resubscribeTask({ tenant: '', id })) {
    const { payload } = update;
    if (payload?.$case === 'artifactUpdate' || (payload?.$case === 'task' && payload.value.artifacts.length > 0)) sawHalf();
  }
  const task = await client.getTask({ tenant: '', id });
  return { text: textsOfTask(task).join(''), end: stateOf(task).toLowerCase() };
}

async function own(sawHalf: Half): Promise<Seen> {
  let text = '';
  let end = '';
  const inputs = new Map<string, Json>();
  const calls: Json[] = [];
  for await (const event of new ServiceClient(url).liveEvents(run)) {
    if (event.type === 'text-delta') sawHalf();
    if (event.type === 'model-end') text = textOf(event.message);
    if (event.type === 'tool-start') inputs.set(event.callId, event.input);
    if (event.type === 'tool-end') {
      const [result] = event.message.parts;
      calls.push([event.tool, inputs.get(event.callId) ?? null, result?.type === 'tool-result' ? result.output : null]);
    }
    if (event.type !== 'turn-end') continue;
    end = event.status;
    break;
  }
  return { text, calls, end };
}

it('is seen alike by five clients that come in the middle of it', async () => {
  let seeing = 0;
  const sawHalf = (): Half => {
    seeing += 1;
    let isFirst = true;
    return () => {
      if (!isFirst) return;
      isFirst = false;
      seeing -= 1;
      if (seeing === 0 && waits) door.open();
    };
  };
  let waits = false;
  const first = openAi(sawHalf());
  await door.reached;
  const [message = ''] = (await bed.client.run(run).view()).messages.map(({ id }) => id.replace(/^sent\./, ''));
  const others = [aiSdk(sawHalf()), agUi(sawHalf()), a2a(message, sawHalf()), own(sawHalf())];
  waits = true;
  if (seeing === 0) door.open();
  const seen = await Promise.all([first, ...others]);
  const call = ['echo', { text: 'seen' }, 'seen'];
  const all: Seen = { text: whole, calls: [call], end: 'completed' };
  expect(seen).toEqual([all, all, all, { text: whole, end: 'completed' }, all]);
});
