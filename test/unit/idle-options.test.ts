import { budget, contextEditing, modelCallLimit, modelRetry, patchToolCalls, reduction } from 'holdfast/middleware';
import { deepAgent } from 'holdfast/workflow';
import { agentsMd, approval, skill, summarization, toolCallLimit, toolRetry, toolSelector } from 'holdfast/middleware';
import { directoryBackend, fileTools } from 'holdfast/worker';
import { agentUnder } from '../support/memory-bed';
import { member } from '../support/team-bed';

const text = (): string => 'x';
const price = { 'a/b': { input: 1, output: 1 } };

describe('an option that would do nothing', () => {
  it.each<[string, () => unknown, string]>([
    ['an approval of no tool', () => approval({ tools: {} }), 'approval: tools has no tool'],
    ['an expiry without a time', () => approval({ tools: { echo: { onExpiry: 'approve' } } as never }), 'there is no expires'],
    [
      'a file that is read twice',
      () => agentsMd({ files: ['/A.md', '/A.md'] }),
      `agentsMd: files must be an array of at least one path, each once, such as ['/AGENTS.md']. It is ["/A.md","/A.md"].`,
    ],
    [
      'a first wait over the longest one',
      () => modelRetry({ backoff: { first: '5s', most: '2s' } }),
      'modelRetry.backoff: first is "5s", longer than most, which is "2s": no wait would be that long. Write a longer',
    ],
    [
      'the same of tools',
      () => toolRetry({ backoff: { first: '2h', most: '1h' } }),
      'toolRetry.backoff: first is "2h", longer than most, which is "1h": no wait would be that long. Write a longer ',
    ],
    ['a retry that makes one call', () => toolRetry({ attempts: 1 }), 'attempts counts the first call, too'],
    ['a limit that no agent comes to', () => modelCallLimit({ perRun: 2, perAgent: 3 }), 'modelCallLimit: perAgent is 3'],
    ['the same of tools', () => toolCallLimit({ perRun: 2, perAgent: 3 }), 'toolCallLimit: perAgent is 3'],
    ['words of a run that fails', () => modelCallLimit({ perRun: 2, exceeded: 'fail', message: 'No.' }), 'message is for an agent that'],
    ['the same of tools', () => toolCallLimit({ perRun: 2, exceeded: 'fail', message: 'No.' }), 'toolCallLimit: message is for'],
    ['a tool that is limited twice', () => toolCallLimit({ perRun: 2, tools: ['echo', 'echo'] as never }), 'each once'],
    ['a tool that is retried twice', () => toolRetry({ tools: ['echo', 'echo'] as never }), 'each once'],
    ['a tool that is excluded twice', () => contextEditing({ excludeTools: ['echo', 'echo'] }), 'each once'],
    ['a tool that is offered twice', () => toolSelector({ model: 'm', maxTools: 1, alwaysInclude: ['a', 'a'] as never }), 'each once'],
    ['prices of tokens alone', () => budget({ tokens: 10, prices: price }), 'budget: prices are for money'],
    ['words of a budget that fails', () => budget({ tokens: 10, whenSpent: 'fail', message: 'No.' }), 'budget: message is what'],
    [
      'words of a budget that fails in the end',
      () => budget({ tokens: 10, whenSpent: { model: 'm', more: { tokens: 5 }, then: 'fail' }, message: 'No.' }),
      'budget: message is what',
    ],
    ['a bound of what is not cut', () => reduction({ skipTruncation: true, maxLengthForTrunc: 5 }), 'maxLengthForTrunc would do nothing'],
    ['a bound of what is not cleared', () => reduction({ skipClear: true, maxTokensForClear: 5 }), 'maxTokensForClear would do nothing'],
    [
      'a bound of a tool that is not cut',
      () => reduction({ toolConfig: { echo: { skipTruncation: true, maxLengthForTrunc: 5 } } }),
      'has maxLengthForTrunc, which does nothing',
    ],
    ['words for what stays', () => reduction({ toolConfig: { echo: { skipClear: true, clear: text } } }), 'has clear, which does nothing'],
    [
      'an instruction beside a whole request',
      () => summarization({ model: 'm', userInstruction: 'x', genModelInput: (messages) => ({ instructions: '', messages }) }),
      'userInstruction would do nothing beside genModelInput',
    ],
    [
      'a bound beside a whole request',
      () => summarization({ model: 'm', maxInputTokens: 5, genModelInput: (messages) => ({ instructions: '', messages }) }),
      'maxInputTokens would do nothing beside genModelInput',
    ],
    [
      'blanks for a person',
      () => approval({ tools: { echo: { by: [' '] } } }),
      'tools.echo.by must be an array of at least one name. It is [" "].',
    ],
    ['blanks for a model', () => summarization({ model: ' ' }), 'summarization: model must be a string that is not blank. It is " ".'],
    [
      'a path of nothing',
      () => summarization({ model: 'm', transcriptPath: '' }),
      'transcriptPath must be a string that is not blank. It is "".',
    ],
    [
      'agents for skills, and none',
      () => skill({ agents: {} }),
      'skill: agents must be at least one agent by its name, such as { default: helper }. It is {}.',
    ],
    ['the result of an agent, and none', () => skill({ formatForkResult: text }), 'formatForkResult is for skills that an agent'],
    ['the begin of an agent, and none', () => skill({ buildForkMessages: () => [] }), 'buildForkMessages is for skills that an agent'],
  ])('is refused with what to change: %s', (_, make, message) => {
    expect(make).toThrow(expect.objectContaining({ code: 'agent-invalid', message: expect.stringContaining(message) }));
  });

  it('is refused of a deep agent without agents to give tasks to', () => {
    const deep = { name: 'deep', description: 'Works.', model: 'm', withoutGeneralSubAgent: true } as const;
    expect(() => deepAgent({ ...deep, taskDescription: text })).toThrow(/taskDescription would do nothing: it has no agents/);
    expect(() => deepAgent({ ...deep, forwardEvents: true })).toThrow(/forwardEvents would do nothing/);
    expect(deepAgent({ ...deep, forwardEvents: true, subAgents: [member('sub', { description: 'Helps.' })] }).name).toBe('deep');
  });

  it('is refused of a tool of files that has a description of its own', () => {
    const custom = { execute: text };
    expect(() => fileTools({ backend: directoryBackend('.'), tools: { ls: { custom, description: 'Lists.' } } })).toThrow(
      expect.objectContaining({ code: 'config-invalid', message: expect.stringContaining('leave the other description out') }),
    );
  });

  it.each([
    ['summarization', () => summarization({ model: 'm' }), 'would summarize the summary of the first'],
    ['patchToolCalls', () => patchToolCalls(), 'leaves nothing for a second one'],
  ])('is refused of a second %s of an agent', (name, make, why) => {
    expect(agentUnder(make()).name).toBe('agent');
    expect(() => agentUnder(make(), make())).toThrow(
      expect.objectContaining({
        code: 'agent-invalid',
        message: expect.stringMatching(new RegExp(`^Agent "agent": the middleware "${name}" stands in the list twice.*${why}`)),
      }),
    );
  });
});

it.each<[string, () => unknown]>([
  ['false for all tools', () => approval({ tools: { echo: false } })],
  ['a first wait over the usual longest one', () => modelRetry({ backoff: { first: '5m' } })],
  ['a longest wait under the usual first one', () => modelRetry({ backoff: { most: '500ms' } })],
  ['one attempt, and an answer in place of its error', () => toolRetry({ attempts: 1, whenExhausted: { answer: 'No.' } })],
  ['limits that are alike', () => modelCallLimit({ perRun: 2, perAgent: 2 })],
  ['words of a limit that ends', () => toolCallLimit({ perRun: 2, exceeded: 'end', message: 'No.' })],
  ['two ways to clear', () => agentUnder(contextEditing(), contextEditing({ keep: 1 }))],
])('what does something is taken: %s', (_, make) => {
  expect(make).not.toThrow();
});
