import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import ts from 'typescript';
import { approval, patchToolCalls, toolCallLimit } from 'holdfast/middleware';
import type { ScriptedStep, TestRun } from 'holdfast/testing';
import { scriptedModel, testRun } from 'holdfast/testing';
import type { Agent, AgentMiddleware, Json, Message, WorkflowTool } from 'holdfast/workflow';
import { agentTool } from 'holdfast/workflow';
import { ownAgentTool, ownApproval, ownPatchToolCalls, ownToolCallLimit } from '../../fixtures/own-built-ins';
import type { ErrorCode } from '../../../contract/errors';
import { failureSaying } from '../../support/failures';
import { agentUnder, agentWith, echo, linesOf, only, startRun, tools, transcriptOf } from '../../support/memory-bed';
import { byHand, member, scripts } from '../../support/team-bed';

const file = 'own-built-ins.ts';

it('built-ins written anew import nothing but the doors', () => {
  const source = readFileSync(resolve(__dirname, '..', '..', 'fixtures', file), 'utf8');
  const imported = ts.preProcessFile(source, true, true).importedFiles.map(({ fileName }) => fileName);
  expect([...new Set(imported)]).toEqual(['holdfast/workflow']);
});

type Deeds = (run: TestRun) => Promise<void>;

async function seenOf(agent: Agent<string, Json, unknown>, steps: readonly ScriptedStep[], input: Json, deeds: Deeds): Promise<object> {
  const model = scriptedModel(steps);
  const run = await testRun(agent as Agent<string, Json>, { input, model, tools, id: 'r' });
  await run.outcome();
  await deeds(run);
  return {
    outcome: await run.outcome(),
    transcript: await transcriptOf(run),
    lines: await linesOf(run),
    asked: model.requests.map(({ messages }) => messages.map(({ role, parts }) => ({ role, parts }))),
  };
}

const nothing: Deeds = () => Promise.resolve();
const same = async (
  ours: AgentMiddleware,
  own: AgentMiddleware,
  steps: readonly ScriptedStep[],
  input: Json = 'Hi',
  deeds: Deeds = nothing,
): Promise<object> => {
  const seen = await seenOf(agentUnder(own), steps, input, deeds);
  expect(seen).toEqual(await seenOf(agentUnder(ours), steps, input, deeds));
  return seen;
};

describe('a built-in that a user writes anew', () => {
  it('limits the calls of tools as toolCallLimit does, also of calls beside each other, and behind a continue-as-new', async () => {
    const steps = [{ toolCalls: [echo('a'), echo('b')] }, { toolCalls: [echo('c'), echo('d'), echo('e')] }, { text: 'Done.' }];
    const seen = await same(toolCallLimit({ perAgent: 3, message: 'Enough.' }), ownToolCallLimit(3, 'Enough.'), steps, 'Hi', (run) =>
      run.goOnAsNew(),
    );
    expect(seen).toMatchObject({ transcript: expect.arrayContaining(['tool: c', 'tool: Enough.']) });
  });

  it.each<[string, (run: TestRun, id: string) => Promise<unknown>]>([
    ['approves', (run, id) => run.approve(id)],
    ['rejects', (run, id) => run.reject(id, 'Not now.')],
    ['edits', (run, id) => run.approve(id, { editedInput: { text: 'edited' } })],
    ['answers in place of the tool', (run, id) => run.resume(id, { type: 'respond', output: 'mine' })],
    ['waives the rest', (run, id) => run.approve(id, { forRestOfRun: true })],
    ['lets the time pass', (run) => run.advance('4d')],
  ])('holds calls as approval does, when a person %s', async (_, decide) => {
    const steps = [{ toolCalls: [echo('a')] }, { toolCalls: [echo('b')] }, { text: 'Done.' }];
    const questions: unknown[][] = [];
    const deeds: Deeds = async (run) => {
      const asked: unknown[] = [];
      questions.push(asked);
      for (;;) {
        const [open] = await run.interrupts();
        if (open === undefined) return;
        asked.push(open);
        await run.goOnAsNew();
        await decide(run, open.id);
        await run.outcome();
      }
    };
    await same(approval({ tools: { echo: { expires: '3d' } } }), ownApproval('echo'), steps, 'Hi', deeds);
    const [own, ours] = questions;
    expect(own).not.toHaveLength(0);
    expect(own).toEqual(ours);
  });

  it('refuses an edit that does not fit, as approval does', async () => {
    const deeds: Deeds = async (run) => {
      const { id } = only(await run.interrupts());
      await expect(run.approve(id, { editedInput: { text: 1 } })).rejects.toMatchObject({ code: 'answer-invalid' });
      await run.approve(id);
    };
    const steps = [{ toolCalls: [echo('a')] }, { text: 'Done.' }];
    await same(approval({ tools: { echo: { expires: '3d' } } }), ownApproval('echo'), steps, 'Hi', deeds);
  });

  it('gives calls without a result one, as patchToolCalls does', async () => {
    const input: readonly Message[] = [
      { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
      { role: 'assistant', parts: [{ type: 'tool-call', id: 'c1', name: 'echo', input: { text: 'a' } }] },
      { role: 'user', parts: [{ type: 'text', text: 'Go on.' }] },
    ];
    const content = (tool: string): string => `${tool} is gone.`;
    await same(patchToolCalls({ content }), ownPatchToolCalls(content), [{ text: 'Done.' }], input as unknown as Json);
    expect(() => agentUnder(ownPatchToolCalls(content), ownPatchToolCalls(content))).toThrow('Nothing is left for a second one.');
  });
});

describe('a tool that a user writes, which runs agents', () => {
  const helper = (): Agent<'helper'> => member('helper', { tools: ['echo'] });
  const steps = {
    model: [{ toolCalls: [{ name: 'helper', input: { request: 'Say a.' } }] }, { text: 'Done.' }],
    helper: [{ toolCalls: [echo('a')] }, { text: 'It says a.' }],
  };
  const played = async (tool: ReturnType<typeof agentTool> | WorkflowTool) => {
    const model = scripts(steps);
    const run = await startRun(agentWith({ tools: [tool] }), model, { id: 'r' });
    return {
      outcome: await run.outcome(),
      transcript: await transcriptOf(run),
      lines: await linesOf(run),
      usage: await run.usage(),
      asked: model.requests('helper').map(({ messages }) => messages.map(({ role, parts }) => ({ role, parts }))),
    };
  };

  it('gives an agent a task as agentTool does', async () => {
    const own = await played(ownAgentTool(helper()));
    expect(own).toEqual(await played(agentTool(helper())));
    expect(own.transcript).toContain('tool: It says a.');
  });

  const running = (execute: WorkflowTool['execute']) => agentWith({ tools: [{ ...ownAgentTool(helper()), execute }] });

  it('sees its call and the messages up to it, also behind a continue-as-new', async () => {
    const seen: unknown[] = [];
    const agent = running(async (_, ctx) => {
      seen.push([ctx.toolCall.id, ctx.toolCall.name, ctx.messages.map(({ role }) => role), Object.isFrozen(ctx.messages)]);
      await ctx.interrupt('Go on?');
      return 'Done.';
    });
    const run = await startRun(agent, scripts(steps));
    const { id } = only(await run.interrupts());
    await run.goOnAsNew();
    await run.resume(id, true);
    expect((await run.outcome()).status).toBe('completed');
    expect(seen).toEqual(Array(2).fill([expect.any(String), 'helper', ['user', 'assistant'], true]));
  });

  it('may give the agent another model, and messages that keep their ids', async () => {
    const agent = running((_, ctx) => ctx.runAgent('helper', () => ctx.messages.slice(0, 1), { model: 'test/strong' }));
    const model = scripts({ ...steps, strong: [{ text: 'Strong.' }] });
    const run = await startRun(agent, model);
    expect((await run.outcome()).status).toBe('completed');
    expect(await transcriptOf(run)).toContain('tool: Strong.');
    expect(model.requests('strong')[0]?.messages).toEqual([
      expect.objectContaining({ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }),
    ]);
  });

  it.each<[string, WorkflowTool['execute'], ErrorCode, string]>([
    ['runs an agent that it does not have', (_, ctx) => ctx.runAgent('nobody', 'Hi'), 'agent-unknown', 'the tool "helper" has "helper".'],
    [
      'ends while an agent still runs',
      (_, ctx) => (void ctx.runAgent('helper', 'Hi'), 'Done.'),
      'next-left-running',
      'Await every agent that it runs.',
    ],
  ])('ends the run when it %s', async (_, execute, code, message) => {
    const run = await startRun(running(execute), scripts(steps));
    expect(await run.outcome()).toMatchObject(failureSaying(code, message));
  });

  it('fails with the first error of agents beside each other, when the others have ended', async () => {
    const slow = member('slow', { tools: ['echo'] });
    const tool: WorkflowTool = {
      ...ownAgentTool(helper()),
      agents: [helper(), slow],
      execute: async (_, ctx) => (await Promise.all([ctx.runAgent('helper', 'Hi'), ctx.runAgent('slow', 'Hi')])).join(),
    };
    const model = scripts({ ...steps, helper: [{ error: 'Out of order.' }], slow: [{ toolCalls: [echo('a')] }, { text: 'Slow.' }] });
    const run = await startRun(agentWith({ tools: [tool] }), model);
    expect((await run.outcome()).status).toBe('completed');
    expect((await transcriptOf(run)).join('\n')).toContain("The agent 'helper' failed");
    expect(model.requests('slow')).toHaveLength(2);
  });

  it('is refused when its agents are none', () => {
    expect(() => agentWith({ tools: [{ ...ownAgentTool(helper()), agents: ['helper' as never] }] })).toThrow(
      'must be an agent, made with defineAgent',
    );
    expect(() => agentWith({ tools: [{ ...ownAgentTool(byHand('x', async function* () {})) }] })).not.toThrow();
  });
});
