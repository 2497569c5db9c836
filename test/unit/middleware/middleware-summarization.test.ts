import type { LanguageModel } from '../../../activities/models/language-model';
import { scriptedModel, testRun } from '../../../testing/index';
import type { AgentMiddleware, Message } from '../../../workflows/index';
import type { SummarizationOptions } from '../../../middleware/index';
import { contextTokens, preserveSkills, summarization } from '../../../middleware/index';
import { asked, called, failureOf, result, said, system, user } from '../../support/compaction-bed';
import { agentUnder, echo, linesOf, lineOf, tools } from '../../support/memory-bed';
import { errorOf } from '../../support/failures';
import { withUserMessages } from '../../../middleware/summarization/user-messages';

const sums = (times = 1): ReturnType<typeof scriptedModel> =>
  scriptedModel(Array.from({ length: times }, (_, n) => ({ text: `Sum ${n + 1}.` })));
const over = (options: Partial<SummarizationOptions> = {}): AgentMiddleware =>
  summarization({ model: 'test/sum', trigger: { tokens: 1 }, tokenCounter: () => 2, ...options });

describe('summarization', () => {
  it('keeps the newest messages behind the summary, and never a result without its call', async () => {
    const messages = [user('Hi'), said('Hm.'), called('c1', 'c2'), result('c1', 'one'), result('c2', 'two'), user('And?')];
    for (const [keepMessages, kept] of [
      [1, 1],
      [2, 4],
      [4, 4],
      [5, 5],
    ] as const) {
      const sum = sums();
      const { lines } = await asked([over({ keepMessages })], messages, { models: { sum } });
      expect(lines.slice(1)).toEqual(messages.slice(-kept).map(lineOf));
      expect(sum.requests[0]?.messages).toHaveLength(messages.length - kept + 1);
    }
  });

  it('makes no summary of nothing but a summary, however long that is', async () => {
    const sum = sums();
    const steps = [{ toolCalls: [echo('x')] }, { text: 'Done.' }];
    const { requests } = await asked([over({ keepMessages: 3 })], [user('Hi'), said('a'), said('b'), said('c')], {
      models: { sum },
      steps,
    });
    expect(sum.requests).toHaveLength(2);
    const alone = await asked([over()], [requests[0]?.messages[0] as Message], { models: { sum: sums() } });
    expect(alone.lines).toHaveLength(1);
    expect(alone.run).toBeDefined();
  });

  it('gives the model that summarizes at most so many tokens, the newest, from a message on that is no result', async () => {
    const sum = sums();
    const messages = [user('x'.repeat(400)), called('c1'), result('c1', 'y'.repeat(40)), said('End.')];
    await asked([over({ maxInputTokens: 15 })], messages, { models: { sum } });
    expect(sum.requests[0]?.messages.map(lineOf).slice(0, -1)).toEqual(['assistant: End.']);
  });

  it('speaks the language of the run', async () => {
    const sum = sums();
    const { lines } = await asked([over({ transcriptPath: 'run.txt' })], [user('Hi')], { models: { sum }, language: 'zh' });
    expect(lines[0]).toContain('摘要如下');
    expect(lines[0]).toContain('run.txt');
    expect(sum.requests[0]?.instructions).toContain('摘要');
  });

  it('counts the calls for summaries into the tokens of the run, and shows none of their answers', async () => {
    const sum = scriptedModel([{ text: 'Sum.', usage: { inputTokens: 100, outputTokens: 20 } }]);
    const { run } = await asked([over()], [user('Hi')], {
      models: { sum },
      steps: [{ text: 'Done.', usage: { inputTokens: 5, outputTokens: 1 } }],
    });
    expect(await run.usage()).toEqual({ inputTokens: 105, outputTokens: 21 });
    expect(await linesOf(run)).toEqual(['run-start', 'model-start', 'model-start', 'model-end', 'run-end']);
  });

  it('leaves no count of tokens that no longer holds', async () => {
    const seen: (number | undefined)[] = [];
    const watching: AgentMiddleware = {
      name: 'watching',
      beforeModelRewriteState: (state, ctx) => void seen.push(ctx.lastAnswer?.tokens, contextTokens(state, ctx)),
    };
    const middleware = summarization({ model: 'test/sum', trigger: { tokens: 1000 } });
    const steps = [{ toolCalls: [echo('x')], usage: { inputTokens: 2000, outputTokens: 10 } }, { text: 'Done.' }];
    await asked([middleware, watching], [user('Hi')], { models: { sum: sums() }, steps });
    expect(seen[0]).toBeUndefined();
    expect(seen[2]).toBeUndefined();
    expect(seen[3]).toBeLessThan(200);
  });

  it('asks once when there is no retry, however the call fails', async () => {
    const calls: number[] = [];
    const sum: LanguageModel = {
      generate: async () => {
        calls.push(1);
        throw new Error('busy');
      },
    };
    await asked([over({ retry: { maxRetries: 0 } })], [user('Hi')], { models: { sum } });
    expect(calls).toHaveLength(1);
  });

  it('waits between tries by the time of the run, also over a continue-as-new', async () => {
    const sum = scriptedModel([{ error: 'busy' }, { text: 'Second.' }]);
    const main = scriptedModel([{ text: 'Done.' }]);
    const model = { model: (name: string) => (name.endsWith('sum') ? sum : main) };
    const run = await testRun(agentUnder(over({ retry: {} })), { input: 'Hi', model, tools });
    expect((await run.outcome()).status).toBe('running');
    await run.advance('900ms');
    expect(sum.requests).toHaveLength(1);
    await run.advance('700ms');
    expect(await run.result()).toBe('Done.');
    expect(sum.requests).toHaveLength(2);
  });

  it('keeps skills through a second summary', async () => {
    const skill = { ...called('skill:s1'), parts: [{ type: 'tool-call' as const, id: 's1', name: 'skill', input: { skill: 'pdf' } }] };
    const middleware = over({ finalize: preserveSkills(), trigger: { messages: 2 }, tokenCounter: () => 0 });
    const steps = [{ toolCalls: [echo('x')] }, { text: 'Done.' }];
    const { requests } = await asked([middleware], [system('s'), user('Hi'), skill, result('skill:s1', 'How to.')], {
      models: { sum: sums(2) },
      steps,
    });
    for (const { messages } of requests) expect(messages.map(lineOf).join('\n')).toContain('<skill name="pdf">\nHow to.\n</skill>');
    expect(requests[1]?.messages).toHaveLength(3);
  });

  it.each<[Partial<SummarizationOptions> | undefined, string]>([
    [undefined, 'summarization: model must be a string that is not blank. It is missing.'],
    [{ trigger: {} }, 'summarization.trigger: it has neither tokens nor messages; leave it out, or write one of them.'],
    [{ trigger: { tokens: 0 } }, 'summarization: trigger.tokens must be a whole number of at least 1. It is 0.'],
    [{ trigger: { messages: 5 }, keepMessages: 4 }, 'summarization.trigger: messages is 5, and a summary leaves 5'],
    [{ trigger: { words: 5 } as never }, 'summarization: there is no option "trigger.words"; there are tokens, messages.'],
    [{ keepMessages: -1 }, 'summarization: keepMessages must be a whole number of at least 0. It is -1.'],
    [{ retry: { maxRetries: -1 } }, 'summarization: retry.maxRetries must be a whole number of at least 0. It is -1.'],
    [{ failover: { models: [] } as never }, 'summarization: there is no option "failover.models"; there are'],
  ])('refuses the options %j', (options, message) => {
    const given = options === undefined ? undefined : { model: 'test/sum', ...options };
    expect(() => summarization(given as never)).toThrow(errorOf('agent-invalid', expect.stringContaining(message)));
  });

  it('ends the run when its counter gives no number', async () => {
    expect(await failureOf(await asked([over({ tokenCounter: (() => Promise.resolve(1)) as never })], [user('Hi')]))).toMatch(
      /tokenCounter of summarization returned .*; it is to return a number, at once\./,
    );
  });
});

const reminder = (mark: string): Message => ({ role: 'user', parts: [{ type: 'text', text: `made by ${mark}` }], extra: { [mark]: true } });

describe('summaries beside middlewares that put messages in', () => {
  it('count none of these among the words of the user', () => {
    const summary = 'Before.\n<all_user_messages>\nx\n</all_user_messages>';
    const words = withUserMessages(summary, [reminder('agentsMd'), user('Do it.'), reminder('toolSearch')], 1000);
    expect(words).toBe('Before.\n<all_user_messages>\n- Do it.\n</all_user_messages>');
  });

  it('are not made of nothing but these and an earlier summary', async () => {
    const sum = scriptedModel([]);
    const { run, requests } = await asked(
      [summarization({ model: 'test/sum', trigger: { tokens: 1 }, tokenCounter: () => 100, keepMessages: 2 })],
      [reminder('agentsMd'), reminder('summarization'), said('Hello.'), user('Do it.')],
      { models: { sum } },
    );
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect([requests[0]?.messages.length, sum.requests.length]).toEqual([4, 0]);
  });
});
