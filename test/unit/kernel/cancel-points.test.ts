import { scriptedModel, testRun } from 'holdfast/testing';
import type { AgentMiddleware } from 'holdfast/workflow';
import type { RunEvent } from '../../../contract/events';
import {
  agentUnder,
  agentWith,
  gate,
  halfAnswer,
  heldTool,
  linesOf,
  logOf,
  startRun,
  toolOf,
  transcriptOf,
} from '../../support/memory-bed';

const cut = ['cancel-request', 'cancel-start', 'run-end'];
const ends = (log: readonly RunEvent[]): RunEvent | undefined => log.at(-1);

const calls = (...names: readonly string[]) => ({
  toolCalls: names.map((name) => ({ name, input: name === 'echo' ? { text: 'x' } : {} })),
});

describe('a cancel at a safe point', () => {
  it('keeps the tools of an answer from running, and a run that goes on runs them without asking the model again', async () => {
    const asked = gate();
    const answer = gate();
    const model = scriptedModel([async () => (asked.open(), await answer.opened, calls('echo')), { text: 'Done.' }]);
    const run = await startRun(agentWith(), model);
    await asked.opened;
    const receipt = await run.cancel({ mode: 'after-model', reason: 'too dear', by: 'ada' });
    expect((await run.view()).cancelling).toEqual({ modes: ['after-model'], recursive: true, reason: 'too dear', by: 'ada' });
    answer.open();
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
    const log = await logOf(run);
    expect(log.map(({ type }) => type)).toEqual(['run-start', 'model-start', 'cancel-request', 'model-end', 'cancel-start', 'run-end']);
    expect(ends(log)).toMatchObject({ status: 'cancelled', mode: 'after-model', reason: 'too dear', by: 'ada' });
    expect((await run.view()).cancelled).toEqual({ mode: 'after-model', reason: 'too dear', by: 'ada' });
    expect(await receipt.settled()).toBe('in-time');

    await run.resume({ by: 'bob' });
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect((await logOf(run))[log.length]).toMatchObject({ type: 'run-resume', by: 'bob' });
    expect(model.requests).toHaveLength(2);
    expect((await logOf(run)).map(({ offset }) => offset)).toEqual([...(await logOf(run)).keys()]);
    expect(await transcriptOf(run)).toEqual(['user: Hi', 'assistant: echo({"text":"x"})', 'tool: x', 'assistant: Done.']);
  });

  it('tells so also when the run went on behind its end, and was cancelled again', async () => {
    const sleeping: AgentMiddleware = { name: 'sleeping', beforeAgent: (_, ctx) => ctx.sleep('1d') };
    const run = await startRun(agentUnder(sleeping), [{ text: 'Done.' }]);
    await run.outcome();
    const first = await run.cancel({ mode: 'after-tools', within: '30s' });
    await run.advance('31s');
    await run.resume();
    const second = await run.cancel();
    await run.outcome();
    await run.resume();
    await run.advance('1d');
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect([await first.settled(), await second.settled()]).toEqual(['escalated', 'in-time']);
  });

  it('becomes one at once when its time is up, also behind a continue-as-new', async () => {
    const sleeping: AgentMiddleware = { name: 'sleeping', beforeAgent: (_, ctx) => ctx.sleep('1d') };
    const run = await startRun(agentUnder(sleeping), [{ text: 'Done.' }]);
    expect((await run.outcome()).status).toBe('running');
    const receipt = await run.cancel({ mode: 'after-tools', within: '30s' });
    await run.goOnAsNew();
    await run.advance('29s');
    expect((await run.view()).status).toBe('running');
    await run.advance('2s');
    expect(await receipt.settled()).toBe('escalated');
    expect(ends(await logOf(run))).toMatchObject({ status: 'cancelled', mode: 'now', escalated: true });
    await run.resume();
    await run.advance('1d');
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    await expect(run.resume()).rejects.toMatchObject({ code: 'run-not-cancelled' });
  });

  it('joins others: the earliest deadline counts, modes add up, and now wins', async () => {
    const one = heldTool();
    const model = scriptedModel([calls('held'), { text: 'Done.' }]);
    const run = await testRun(agentWith({ tools: ['held'] }), { input: 'Hi', model, tools: { held: one.held } });
    await one.begun.opened;
    await run.cancel({ mode: 'after-model', within: '1h', by: 'ada' });
    await run.cancel({ mode: 'after-tools', within: '2h' });
    expect((await run.view()).cancelling).toEqual({ modes: ['after-model', 'after-tools'], recursive: true, by: 'ada' });
    await run.cancel({ mode: 'now', by: 'bob' });
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
    expect(ends(await logOf(run))).toMatchObject({ mode: 'now', by: 'bob' });
    expect(ends(await logOf(run))).not.toHaveProperty('escalated');
  });
});

describe('a cancel at once', () => {
  it('keeps half an answer for readers, marked, and asks the model anew', async () => {
    const { model, said } = halfAnswer();
    const run = await startRun(agentWith(), model, { stream: true });
    await said.opened;
    await run.cancel({ reason: 'enough' });
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
    expect((await run.transcript()).at(-1)).toMatchObject({ role: 'assistant', partial: true, parts: [{ text: 'Half an ' }] });
    await run.resume();
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(await transcriptOf(run)).toEqual(['user: Hi', 'assistant: Done.']);
  });

  it('tells a running tool by its signal, and does not wait for it', async () => {
    const begun = gate();
    let told = false;
    const slow = toolOf(async (_, { signal }): Promise<string> => {
      signal.addEventListener('abort', () => (told = true));
      begun.open();
      return new Promise(() => undefined);
    });
    const run = await startRun(agentWith({ tools: ['slow'] }), [calls('slow')], { tools: { slow } });
    await begun.opened;
    await run.cancel();
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
    expect(told).toBe(true);
  });

  it('says nothing more where only the server was asked', async () => {
    const one = heldTool();
    const run = await startRun(agentWith({ tools: ['held'] }), [calls('held')], { tools: { held: one.held } });
    await one.begun.opened;
    await run.cancel();
    expect((await linesOf(run)).filter((line) => cut.includes(line))).toEqual(['run-end']);
  });
});
