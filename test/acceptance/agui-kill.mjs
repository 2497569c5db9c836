// node agui-kill.mjs BASE_URL: prints KILL in the middle of a stream, and continues when the service is back.
import { HttpAgent, buildResumeArray, enforceOutgoingInput, getRunOutcome, runHttpRequest, transformHttpEventStream } from '@ag-ui/client';
import { agent, base, finish, flow, ok, refundText, sleep, uid } from './check.mjs';

const url = `${base}/agui/${agent}`;
console.warn = () => {};
console.error = () => {};

class Reconnecting extends HttpAgent {
  connect(input) {
    return transformHttpEventStream(runHttpRequest(() => this.fetch(`${this.url}/connect`, this.requestInit(enforceOutgoingInput(input)))));
  }
}

async function waiting(threadId) {
  for (;;) {
    const client = new Reconnecting({ url, threadId });
    await client.connectAgent().catch(() => {});
    if (client.pendingInterrupts.length > 0) return client;
    await sleep(200);
  }
}

await flow(
  'killed',
  async () => {
    const threadId = uid('th');
    const first = new Reconnecting({ url, threadId });
    let began = () => {};
    const streaming = new Promise((resolve) => (began = resolve));
    first.subscribe({ onEvent: ({ event }) => event.type === 'TOOL_CALL_START' && began() });
    first.addMessage({ id: uid('u'), role: 'user', content: refundText });
    const running = first.runAgent().then(
      () => 'ended',
      () => 'broke',
    );
    await streaming;
    console.log('KILL');
    await running;
    const client = await waiting(threadId);
    const { messages, pendingInterrupts } = client;
    ok('killed: what waits is open in a fresh client', pendingInterrupts.length === 1, pendingInterrupts);
    ok('killed: the thread has the message once', messages.filter(({ role }) => role === 'user').length === 1, messages);
    ok('killed: each call stands there once', new Set(messages.map(({ id }) => id)).size === messages.length, messages);
    let last;
    client.subscribe({ onEvent: ({ event }) => void (last = event) });
    const answers = Object.fromEntries(pendingInterrupts.map(({ id }) => [id, { status: 'resolved', payload: { approved: true } }]));
    await client.runAgent({ resume: buildResumeArray(pendingInterrupts, answers) });
    ok('killed: the run ends with success', getRunOutcome(last)?.type === 'success', last);
    const refunds = client.messages.filter(({ role, content }) => role === 'tool' && String(content).includes('paid'));
    ok('killed: the refund was made once', refunds.length === 1, client.messages);
  },
  90_000,
);
finish();
