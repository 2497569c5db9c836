import { scriptedModel, testRun } from 'holdfast/testing';
import type { AgentMiddleware } from 'holdfast/workflow';
import { agentTool, deepAgent } from 'holdfast/workflow';
import {
  approval,
  chainFinalizers,
  contextEditing,
  filesystem,
  patchToolCalls,
  planTask,
  policy,
  preserveSkills,
  reduction,
  summarization,
  todo,
  toolCallLimit,
  toolRetry,
  toolSearch,
  toolSelector,
} from 'holdfast/middleware';
import { agentWith, tools } from '../../support/memory-bed';
import { member, play, transfer } from '../../support/team-bed';
import { errorOf, failureSaying } from '../../support/failures';

const asks = (tool: string): AgentMiddleware => approval({ tools: { [tool]: true } });
const ownHook: AgentMiddleware = { name: 'own', beforeAgent: () => undefined };
const startOf = async (...middleware: readonly AgentMiddleware[]) => {
  const agent = agentWith({ tools: ['echo'], middleware });
  const run = await testRun(agent, { input: 'Hi', model: scriptedModel([{ text: 'Done.' }]), tools });
  return run.outcome();
};

describe('a tool that an agent does not have', () => {
  it.each<[string, AgentMiddleware]>([
    ['approval', asks('ecko')],
    ['policy', policy({ name: 'rules', tools: ['ecko'], stages: [{}] })],
    ['toolCallLimit', toolCallLimit({ perRun: 1, tools: ['ecko'] as never })],
    ['toolRetry', toolRetry({ tools: ['ecko'] as never })],
    ['toolSelector', toolSelector({ model: 'm', maxTools: 1, alwaysInclude: ['ecko'] as never })],
    ['reduction', reduction({ truncExcludeTools: ['ecko'] })],
  ])('is refused by name when the agent is defined: %s', (_, middleware) => {
    expect(() => agentWith({ tools: ['echo'], middleware: [middleware] })).toThrow(
      errorOf('agent-invalid', /names the tool "ecko", which this agent does not have\. Did you mean "echo"\? It has: echo\.$/),
    );
  });

  it.each<[string, AgentMiddleware]>([
    ['summarization', summarization({ model: 'm' })],
    ['contextEditing', contextEditing()],
    ['patchToolCalls', patchToolCalls()],
    ['todo', todo()],
    ['filesystem', filesystem()],
    ['planTask', planTask({ keptIn: 'worker' })],
  ])('is refused beside %s, of which it is known what it offers', (_, beside) => {
    expect(() => agentWith({ tools: ['echo'], middleware: [beside, asks('ecko')] })).toThrow(/Did you mean "echo"\?/);
  });

  it.each<[string, AgentMiddleware]>([
    ['contextEditing', contextEditing({ excludeTools: ['ecko'] })],
    ['reduction, that clears', reduction({ skipTruncation: true, clearExcludeTools: ['ecko'] })],
    ['summarization', summarization({ model: 'm', finalize: chainFinalizers(preserveSkills({ skillToolName: 'ecko' })) })],
    ['reduction, by tool', reduction({ skipTruncation: true, toolConfig: { ecko: { skipClear: true } } })],
  ])('is refused when the run starts, where messages may bring calls of others: %s', async (_, middleware) => {
    expect(await startOf(middleware)).toMatchObject(
      failureSaying('tool-unknown', /names the tool "ecko", which nobody has\. Did you mean "echo"\?/),
    );
  });

  it('is refused when the run starts, where a hook may offer every tool', async () => {
    const always = toolSelector({ model: 'm', maxTools: 1, alwaysInclude: ['ecko'] as never });
    expect(await startOf(ownHook, always)).toMatchObject({ error: { code: 'tool-unknown' } });
    expect(await startOf(ownHook, asks('ecko'))).toMatchObject(
      failureSaying('tool-unknown', 'names the tool "ecko". Did you mean "echo"?'),
    );
  });

  it('is told apart from the tool by which an agent ends, around which no layer is', () => {
    expect(() => agentWith({ tools: ['echo'], exitTool: true, middleware: [asks('exit')] })).toThrow(/"exit", which no layer is around/);
    const spared = contextEditing({ excludeTools: ['exit'] });
    expect(agentWith({ tools: ['echo'], exitTool: true, middleware: [spared] }).name).toBe('agent');
  });
});

describe('a tool may be named that', () => {
  it.each<[string, AgentMiddleware, AgentMiddleware]>([
    ['a search finds', toolSearch({ tools: ['add'] }), asks('add')],
    ['searches', toolSearch({ tools: ['add'] }), asks('tool_search')],
    ['reads files', filesystem(), asks('read_file')],
    ['has another name', filesystem({ tools: { ls: { name: 'list_files' } } }), asks('list_files')],
    ['plans on the worker', planTask({ keptIn: 'worker' }), asks('TaskCreate')],
    ['plans in the run', planTask(), asks('TaskCreate')],
    ['comes with a middleware', todo(), asks('write_todos')],
  ])('%s', (_, brings, names) => {
    expect(agentWith({ tools: ['echo'], middleware: [brings, names] }).name).toBe('agent');
  });

  it('is an agent', () => {
    const helper = agentTool(member('helper', { description: 'Helps.' }));
    expect(agentWith({ tools: ['echo', helper as never], middleware: [asks('helper')] }).name).toBe('agent');
  });

  it('hands over: its calls are held', async () => {
    const lead = member('lead', { subAgents: [member('other', { description: 'Goes on.' })], middleware: [asks('transfer_to_agent')] });
    const { outcome } = await play(lead, { lead: [transfer('other')], other: [{ text: 'Here I am.' }] });
    expect(outcome).toMatchObject({ status: 'waiting' });
  });

  it('gives tasks in a deep agent, whose general agent has no such tool', async () => {
    const agent = deepAgent({ name: 'deep', description: 'Works.', model: 'test/deep', tools: ['echo'], middleware: [asks('task')] });
    const model = scriptedModel([{ toolCalls: [{ name: 'task', input: { subagent_type: 'general-purpose', description: 'Do it.' } }] }]);
    const run = await testRun(agent, { input: 'Hi', model, tools });
    expect(await run.outcome()).toMatchObject({ status: 'waiting' });
  });

  it('only the messages know that a run begins with', async () => {
    expect(await startOf(contextEditing({ excludeTools: ['add'] }))).toMatchObject({ status: 'completed' });
  });
});
