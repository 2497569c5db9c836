import { createAuthenticatingFetchWithRetry } from '@a2a-js/sdk/client';
import type { BaseEvent } from '@ag-ui/client';
import { HttpAgent, runHttpRequest, transformHttpEventStream } from '@ag-ui/client';
import OpenAI from 'openai';
import type { ModelChunk, LanguageModel } from '../../activities/models/language-model';
import type { Json } from '../../contract/messages/messages';
import { textOf } from '../../contract/messages/messages';
import { createLogger } from '../../host/logger';
import { ServiceClient } from '../../client/http/index';
import type { HoldfastClient } from '../../client/index';
import { Keys } from '../../service/access/keys';
import type { RunningService } from '../../service/http/start-service';
import { startService } from '../../service/http/start-service';
import { memoryStore } from '../support/memory-store';
import { a2aClient, saying, stateOf, textsOf as textsOfTask } from '../support/a2a-bed';
import { PageChat, textsOf, toolsOf } from '../support/ai-sdk-page';
import { gate } from '../support/gate';
import type { TestBed } from '../support/test-bed';
import { startTestBed } from '../support/test-bed';

/*
 * Five unmodified clients (OpenAI, AI SDK, AG-UI, A2A, service) join one run in the middle of a text, and must see equal text, calls and
 * end: at a service for anybody, and at a service that wants a key.
 */

let door = gate();
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

/** Whom a client asks, and with which key. */
interface Door {
  readonly url: string;
  readonly key?: string;
}

const run = `five-${process.pid}`;
const store = memoryStore();
let bed: TestBed;
let open: RunningService;
let keyed: RunningService;
let key: string;
beforeAll(async () => {
  bed = await startTestBed(() => ({ parts: [] }), { models: { providers: { test: { model: () => model } } } });
  const agents = [{ name: 'plain', description: 'Answers.', takesJob: false }];
  const parts = { client: bed.client, agents, logger: createLogger({ level: 'silent' }), host: '127.0.0.1', port: 0 };
  [open, keyed] = await Promise.all([startService(parts), startService({ ...parts, access: {}, store })]);
  ({ key } = await new Keys(store).create({ name: 'five', tenant: 'acme', roles: ['operator'] }));
});
afterAll(async () => {
  await Promise.all([open.close(), keyed.close()]);
  await bed.close();
});

const headersOf = (at: Door): Record<string, string> => (at.key === undefined ? {} : { authorization: `Bearer ${at.key}` });

/** Settles when a client has seen the first half. The text then continues. */
type Half = () => void;

const openAiAt = (at: Door): OpenAI => new OpenAI({ baseURL: `${at.url}/v1`, apiKey: at.key ?? 'none', maxRetries: 0 });

async function openAi(at: Door, sawHalf: Half): Promise<Seen> {
  const client = openAiAt(at);
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

const pageAt = (at: Door, id?: string): PageChat => new PageChat(`${at.url}/aisdk/plain`, { id, headers: headersOf(at) });

async function aiSdk(at: Door, sawHalf: Half): Promise<Seen> {
  const page = pageAt(at, run);
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

const threadAt = (at: Door): Thread => new Thread({ url: `${at.url}/agui/plain`, threadId: run, headers: headersOf(at) });

async function agUi(at: Door, sawHalf: Half): Promise<Seen> {
  const agent = threadAt(at);
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

function a2aAt(at: Door): ReturnType<typeof a2aClient> {
  const given = { headers: async () => headersOf(at), shouldRetryWithHeaders: async () => undefined };
  return a2aClient(createAuthenticatingFetchWithRetry(fetch, given), `${at.url}/a2a/plain/`);
}

async function a2a(at: Door, message: string, sawHalf: Half): Promise<Seen> {
  const client = await a2aAt(at);
  const id = `${run}~${message}`;
  for await (const update of client.resubscribeTask({ tenant: '', id })) {
    const { payload } = update;
    if (payload?.$case === 'artifactUpdate' || (payload?.$case === 'task' && payload.value.artifacts.length > 0)) sawHalf();
  }
  const task = await client.getTask({ tenant: '', id });
  return { text: textsOfTask(task).join(''), end: stateOf(task).toLowerCase() };
}

const ownAt = ({ url, key: given }: Door): ServiceClient => new ServiceClient(url, given === undefined ? {} : { key: given });

async function own(at: Door, sawHalf: Half): Promise<Seen> {
  let text = '';
  let end = '';
  const inputs = new Map<string, Json>();
  const calls: Json[] = [];
  for await (const event of ownAt(at).liveEvents(run)) {
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

it.each<[string, () => Door & { readonly client: HoldfastClient }]>([
  ['without access', () => ({ url: open.url, client: bed.client })],
  ['with keys', () => ({ url: keyed.url, key, client: bed.client.forTenant('acme') })],
])('is seen alike by five clients that come in the middle of it: a service %s', async (_, service) => {
  door = gate();
  const at = service();
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
  const first = openAi(at, sawHalf());
  await door.reached;
  const [message = ''] = (await at.client.run(run).view()).messages.map(({ id }) => id.replace(/^sent\./, ''));
  const others = [aiSdk(at, sawHalf()), agUi(at, sawHalf()), a2a(at, message, sawHalf()), own(at, sawHalf())];
  waits = true;
  if (seeing === 0) door.open();
  const seen = await Promise.all([first, ...others]);
  const call = ['echo', { text: 'seen' }, 'seen'];
  const all: Seen = { text: whole, calls: [call], end: 'completed' };
  expect(seen).toEqual([all, all, all, { text: whole, end: 'completed' }, all]);
});

afterEach(() => jest.restoreAllMocks());

const missing = /401.*The request does not say who sends it/s;

it.each<[string, (at: Door) => Promise<unknown>, RegExp]>([
  ['OpenAI', (at) => openAiAt(at).responses.create({ model: 'plain', input: 'Say it.' }), /401.*The service takes no such token/],
  [
    'AI SDK',
    async (at) => {
      const page = pageAt(at);
      await page.sendMessage({ text: 'Say it.' });
      throw page.error ?? new Error('The page shows no error.');
    },
    missing,
  ],
  [
    'AG-UI',
    (at) => {
      // The client also prints the error.
      jest.spyOn(console, 'error').mockImplementation(() => undefined);
      const thread = threadAt(at);
      thread.addMessage({ id: 'u1', role: 'user', content: 'Say it.' });
      return thread.runAgent();
    },
    missing,
  ],
  ['A2A, which asks for the card first,', a2aAt, /card\.json: 401/],
  [
    'A2A with the card',
    async (at) => {
      const known: { url: string; key?: string } = { ...at, key };
      const client = await a2aAt(known);
      delete known.key;
      return client.sendMessage(saying('Say it.'));
    },
    missing,
  ],
  ['the service', (at) => ownAt(at).start({ agent: 'plain', input: 'Say it.' }), /^The request does not say who sends it/],
])('without its key the client of %s fails, and tells why', async (_, ask, why) => {
  await expect(ask({ url: keyed.url })).rejects.toThrow(why);
});

it('the card of A2A asks for a key where the service does', async () => {
  const asked = async (at: Door): Promise<object> => {
    const { securitySchemes, securityRequirements } = await (await a2aAt(at)).getAgentCard();
    return { securitySchemes, securityRequirements };
  };
  expect(await asked(open)).toEqual({});
  expect(await asked({ url: keyed.url, key })).toEqual({
    securitySchemes: {
      bearer: { scheme: { $case: 'httpAuthSecurityScheme', value: { scheme: 'Bearer', bearerFormat: '', description: '' } } },
    },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
  });
});
