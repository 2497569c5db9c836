import { budget, contextEditing, modelCallLimit, modelRetry, patchToolCalls, reduction } from 'holdfast/middleware';
import { deepAgent } from 'holdfast/workflow';
import { agentsMd, approval, skill, summarization, toolCallLimit, toolRetry, toolSelector } from 'holdfast/middleware';
import { directoryBackend, fileTools } from 'holdfast/worker';
import { errorSaying } from '../../support/failures';
import { agentUnder } from '../../support/memory-bed';
import { member } from '../../support/team-bed';

const text = (): string => 'x';
const price = { 'a/b': { input: 1, output: 1 } };

describe('an option that would do nothing', () => {
  it.each<[string, () => unknown]>([
    ['approval: tools has no tool', () => approval({ tools: {} })],
    ['there is no expires', () => approval({ tools: { echo: { onExpiry: 'approve' } } as never })],
    [
      `agentsMd: files must be an array of at least one path, each once, such as ['/AGENTS.md']. It is ["/A.md","/A.md"].`,
      () => agentsMd({ files: ['/A.md', '/A.md'] }),
    ],
    [
      'modelRetry.backoff: first is "5s", longer than most, which is "2s": no wait would be that long. Write a longer',
      () => modelRetry({ backoff: { first: '5s', most: '2s' } }),
    ],
    [
      'toolRetry.backoff: first is "2h", longer than most, which is "1h": no wait would be that long. Write a longer ',
      () => toolRetry({ backoff: { first: '2h', most: '1h' } }),
    ],
    ['attempts counts the first call, too', () => toolRetry({ attempts: 1 })],
    ['modelCallLimit: perAgent is 3', () => modelCallLimit({ perRun: 2, perAgent: 3 })],
    ['toolCallLimit: perAgent is 3', () => toolCallLimit({ perRun: 2, perAgent: 3 })],
    ['message is for an agent that', () => modelCallLimit({ perRun: 2, exceeded: 'fail', message: 'No.' })],
    ['toolCallLimit: message is for', () => toolCallLimit({ perRun: 2, exceeded: 'fail', message: 'No.' })],
    ['each once', () => toolCallLimit({ perRun: 2, tools: ['echo', 'echo'] as never })],
    ['each once', () => toolRetry({ tools: ['echo', 'echo'] as never })],
    ['each once', () => contextEditing({ excludeTools: ['echo', 'echo'] })],
    ['each once', () => toolSelector({ model: 'm', maxTools: 1, alwaysInclude: ['a', 'a'] as never })],
    ['budget: prices are for money', () => budget({ tokens: 10, prices: price })],
    ['budget: message is what', () => budget({ tokens: 10, whenSpent: 'fail', message: 'No.' })],
    ['budget: message is what', () => budget({ tokens: 10, whenSpent: { model: 'm', more: { tokens: 5 }, then: 'fail' }, message: 'No.' })],
    ['maxLengthForTrunc would do nothing', () => reduction({ skipTruncation: true, maxLengthForTrunc: 5 })],
    ['maxTokensForClear would do nothing', () => reduction({ skipClear: true, maxTokensForClear: 5 })],
    [
      'has maxLengthForTrunc, which does nothing',
      () => reduction({ toolConfig: { echo: { skipTruncation: true, maxLengthForTrunc: 5 } } }),
    ],
    ['has clear, which does nothing', () => reduction({ toolConfig: { echo: { skipClear: true, clear: text } } })],
    [
      'userInstruction would do nothing beside genModelInput',
      () => summarization({ model: 'm', userInstruction: 'x', genModelInput: (messages) => ({ instructions: '', messages }) }),
    ],
    [
      'maxInputTokens would do nothing beside genModelInput',
      () => summarization({ model: 'm', maxInputTokens: 5, genModelInput: (messages) => ({ instructions: '', messages }) }),
    ],
    ['tools.echo.by must be an array of at least one name. It is [" "].', () => approval({ tools: { echo: { by: [' '] } } })],
    ['summarization: model must be a string that is not blank. It is " ".', () => summarization({ model: ' ' })],
    ['transcriptPath must be a string that is not blank. It is "".', () => summarization({ model: 'm', transcriptPath: '' })],
    ['skill: agents must be at least one agent by its name, such as { default: helper }. It is {}.', () => skill({ agents: {} })],
    ['formatForkResult is for skills that an agent', () => skill({ formatForkResult: text })],
    ['buildForkMessages is for skills that an agent', () => skill({ buildForkMessages: () => [] })],
  ])('is refused with what to change: %s', (message, make) => {
    expect(make).toThrow(errorSaying('agent-invalid', message));
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
      errorSaying('config-invalid', 'leave the other description out'),
    );
  });

  it.each([
    ['summarization', () => summarization({ model: 'm' }), 'would summarize the summary of the first'],
    ['patchToolCalls', () => patchToolCalls(), 'leaves nothing for a second one'],
  ])('is refused of a second %s of an agent', (name, make, why) => {
    expect(agentUnder(make()).name).toBe('agent');
    expect(() => agentUnder(make(), make())).toThrow(
      errorSaying('agent-invalid', new RegExp(`^Agent "agent": the middleware "${name}" stands in the list twice.*${why}`)),
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
