import { scriptedModel } from 'holdfast/testing';
import type { AgentMiddleware } from 'holdfast/workflow';
import { eventSenderModelWrapper, eventSenderToolWrapper } from 'holdfast/eino';
import { failureSaying } from '../../support/failures';
import { agentUnder, echo, logOf, startRun, transcriptOf } from '../../support/memory-bed';

const says =
  (name: string): NonNullable<AgentMiddleware['wrapModel']> =>
  async (request, next) => {
    const { message, ...response } = await next(request);
    const parts = message.parts.map((part) => (part.type === 'text' ? { ...part, text: `${name} ${part.text}` } : part));
    return { ...response, message: { ...message, parts } };
  };
const marks =
  (name: string): NonNullable<AgentMiddleware['wrapToolCall']> =>
  async (call, next) =>
    `${name}(${String(await next(call))})`;
const layer = (name: string): AgentMiddleware => ({ name, wrapModel: says(name), wrapToolCall: marks(name) });
const shownBy = async (agent: ReturnType<typeof agentUnder>) => {
  const run = await startRun(agent, [{ toolCalls: [echo('x')], text: 'Hm.' }, { text: 'Done.' }]);
  const log = await logOf(run);
  const shown = log.flatMap((event) => (event.type === 'model-end' || event.type === 'tool-end' ? [event.message] : []));
  return {
    run,
    shown,
    texts: shown.map(({ parts: [part] }) => (part?.type === 'text' ? part.text : part?.type === 'tool-result' ? part.output : '')),
  };
};

describe('an event sender', () => {
  it('shows what passes at its place, between the layers', async () => {
    const { run, texts } = await shownBy(agentUnder(layer('out'), eventSenderModelWrapper(), eventSenderToolWrapper(), layer('in')));
    expect(texts).toEqual(['in Hm.', 'in(x)', 'in Done.']);
    expect((await transcriptOf(run)).slice(2)).toEqual(['tool: out(in(x))', 'assistant: out in Done.']);
  });

  it('that stands outside of all layers shows the message of the transcript, under its id', async () => {
    const { run, shown } = await shownBy(agentUnder(eventSenderModelWrapper(), eventSenderToolWrapper(), layer('in')));
    expect((await run.transcript()).slice(1)).toEqual(shown);
  });

  it('shows a changed message under another id than the one of the transcript', async () => {
    const { run, shown } = await shownBy(agentUnder(layer('out'), eventSenderModelWrapper(), eventSenderToolWrapper()));
    const kept = (await run.transcript()).slice(1).map(({ id }) => id);
    expect(shown.filter(({ id }) => kept.includes(id))).toEqual([]);
  });

  it('shows the last of several passes, once', async () => {
    const twice: AgentMiddleware = {
      name: 'twice',
      wrapToolCall: async (call, next) => (await next(call), `${String(await next(call))}!`),
    };
    const { texts } = await shownBy(agentUnder(twice, eventSenderToolWrapper()));
    expect(texts).toEqual(['Hm.', 'x', 'Done.']);
  });

  it('shows a call that fails, and one that a layer outside answered', async () => {
    const answering: AgentMiddleware = {
      name: 'answering',
      wrapToolCall: async (call, next) => (call.name === 'echo' ? 'mine' : next(call)),
    };
    const model = scriptedModel([{ toolCalls: [{ name: 'fail', input: {} }, echo('x')] }, { text: 'Done.' }]);
    const log = await logOf(await startRun(agentUnder(answering, eventSenderToolWrapper()), model));
    expect(log.filter(({ type }) => type === 'tool-end')).toMatchObject([
      { tool: 'echo', message: { parts: [{ output: 'mine' }] } },
      { tool: 'fail', error: { code: 'tool-failed' } },
    ]);
  });

  it('shows the same after the run went on elsewhere in between', async () => {
    const waiting: AgentMiddleware = {
      name: 'waiting',
      wrapToolCall: async (call, next, ctx) => {
        const output = await next(call);
        ctx.sendToolAction({ waited: true });
        await ctx.interrupt('Go on?');
        return `${String(output)}!`;
      },
    };
    const run = await startRun(agentUnder(waiting, eventSenderToolWrapper()), [{ toolCalls: [echo('x')] }, { text: 'Done.' }]);
    await run.outcome();
    await run.goOnAsNew();
    const [interrupt] = await run.interrupts();
    await run.resume(interrupt?.id ?? '', true);
    const log = await logOf(run);
    expect(log.filter(({ type }) => type === 'tool-end')).toMatchObject([
      { action: { waited: true }, message: { parts: [{ output: 'x' }] } },
    ]);
    expect((await transcriptOf(run))[2]).toBe('tool: x!');
  });
});

describe('an event of a hook', () => {
  it('may be a whole one, named or not', async () => {
    const sending: AgentMiddleware = {
      name: 'sending',
      beforeAgent(_, ctx) {
        ctx.sendEvent({ action: { type: 'remark' } });
        ctx.sendEvent({ name: 'named', data: 1 });
      },
    };
    const log = await logOf(await startRun(agentUnder(sending), [{ text: 'Done.' }]));
    expect(log.filter(({ type }) => type === 'custom')).toMatchObject([
      { name: 'agent-event', data: { action: { type: 'remark' } } },
      { name: 'named', data: { data: 1 } },
    ]);
  });

  it('that is an action belongs into a wrap of a tool call', async () => {
    const sending: AgentMiddleware = { name: 'sending', beforeAgent: (_, ctx) => ctx.sendToolAction('go') };
    const run = await startRun(agentUnder(sending), []);
    expect(await run.outcome()).toMatchObject(failureSaying('hook-failed', 'belongs into a wrapToolCall'));
  });

  it('has a message whose id is ensured once, and not kept when the message is changed under it', async () => {
    const ids: string[] = [];
    const sending: AgentMiddleware = {
      name: 'sending',
      beforeModelRewriteState({ messages }, ctx) {
        const first = ctx.ensureMessageId({ role: 'user', parts: [{ type: 'text', text: 'A' }] });
        const again = ctx.ensureMessageId(first);
        const own = ctx.ensureMessageId(messages[0] ?? first);
        ids.push(first.id, again.id, own.id);
        return { messages: [...messages, { ...first, parts: [{ type: 'text', text: 'B' }] }] };
      },
    };
    const run = await startRun(agentUnder(sending), [{ text: 'Done.' }]);
    const [user, added] = await run.transcript();
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).toBe(user?.id);
    expect(added?.id).not.toBe(ids[0]);
  });
});
