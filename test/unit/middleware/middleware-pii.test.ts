import { createHash } from 'node:crypto';
import type { ScriptedStep } from 'holdfast/testing';
import { scriptedModel, testRun } from 'holdfast/testing';
import { answerOfChunks, defineTool } from 'holdfast/worker';
import type { LanguageModel, ModelChunk } from 'holdfast/worker';
import type { AgentMiddleware, Json, Part } from 'holdfast/workflow';
import type { PiiOptions } from 'holdfast/middleware';
import { HoldfastError, agentTool, defineAgent } from 'holdfast/workflow';
import { approval, modelRetry, pii } from 'holdfast/middleware';
import { z } from 'zod';
import { chunksOf } from '../../../activities/models/chunks';
import type { Delta } from '../../../contract/deltas';
import { detectors } from '../../../middleware/pii/detectors';
import { Pattern } from '../../../middleware/pii/pattern-search';
import { Redactor } from '../../../middleware/pii/redactor';
import type { Piece } from '../../../middleware/pii/redacted-texts';
import { checkedRules } from '../../../middleware/pii/rules';
import { Random } from '../../parity/random';
import { agentWith, logOf, transcriptOf } from '../../support/memory-bed';

const isWellFormed = (text: string): boolean => !/[\ud800-\udfff]/u.test(text);
const redactorOf = (options: PiiOptions): Redactor => new Redactor(checkedRules(options).rules, 'a test');
const joined = (pieces: readonly Piece[]): string => pieces.map(({ text }) => text).join('');
const all: PiiOptions = { email: 'redact', creditCard: 'redact', ip: 'redact', url: 'redact' };

describe('what is found', () => {
  it.each<[keyof typeof detectors, string, string]>([
    ['email', 'Write to bob.smith+x@mail.example.com, please', 'Write to _, please'],
    ['email', 'bob@example.com. And ann@b.co!', '_. And _!'],
    ['email', 'an @ alone, bob@localhost, @handle, a@b@c', 'an @ alone, bob@localhost, @handle, a@b@c'],
    ['email', 'x@y@bob@example.com', 'x@y@_'],
    ['email', '写信给bob@example.com吧', '写信给_吧'],
    ['email', 'Write to bob@example.com.A copy to ann@b.co.1', 'Write to _.A copy to _.1'],
    ['email', 'иван@пример.рф, γιώργος@παράδειγμα.ελ, josé.núñez@correo.es', '_, _, _'],
    ['email', '用户@例子.公司，bob@bücher.de和bob@xn--e1afmkfd.xn--p1ai', '_，_和_'],
    ['email', '김철수에게 bob@example.com으로, ที่ann@ตัวอย่าง.ไทย', '김철수에게 _으로, ที่_'],
    ['creditCard', 'card 4111 1111 1111 1111 exp', 'card _ exp'],
    ['creditCard', '4111\u20111111\u20111111\u20111111 and 4111\u00a01111\u00a01111\u00a01111', '_ and _'],
    ['creditCard', '4222222222222, but not 1763756026123 and 1763756026123455', '_, but not 1763756026123 and 1763756026123455'],
    ['creditCard', '4111-1111-1111-1111, 378282246310005', '_, _'],
    ['creditCard', 'order 12 4111111111111111', 'order 12 _'],
    ['creditCard', '4111111111111112, 41111111111111111111111', '4111111111111112, 41111111111111111111111'],
    ['creditCard', '0000000000000000', '0000000000000000'],
    ['ip', 'from 10.0.0.1:80 and 192.168.1.254.', 'from _:80 and _.'],
    ['ip', '999.1.1.1, v1.2.3.4, 1.2.3, 1.2.3.4.5', '999.1.1.1, v1.2.3.4, 1.2.3, 1.2.3.4.5'],
    ['ip', 'fe80::1, 2001:db8:0:0:0:0:0:1, ::ffff:10.0.0.1', '_, _, _'],
    ['ip', 'ip:fe80::1. At 12:30:45, std::cout, 00:1a:2b:3c:4d:5e', 'ip:_. At 12:30:45, std::cout, 00:1a:2b:3c:4d:5e'],
    ['url', 'See https://example.com/a?b=c#d. (www.example.org)', 'See _. (_)'],
    ['url', '见https://example.com/路径。http://пример.рф/x和www.例子.中国', '见_。_和_'],
    ['url', 'a://b is none, http:// neither, HTTPS://X.Y is', 'a://b is none, http:// neither, _ is'],
  ])('%s in: %s', (kind, text, expected) => {
    const spans = [...detectors[kind].find(text, '')].sort((one, other) => other.start - one.start);
    const unique = spans.filter(
      ({ start, end }, position) => !spans.some((other, at) => at !== position && other.start <= start && other.end >= end),
    );
    expect(unique.reduce((rest, { start, end }) => `${rest.slice(0, start)}_${rest.slice(end)}`, text)).toBe(expected);
  });

  it('is replaced by what the strategy says', () => {
    const value = 'bob@example.com, 4111 1111 1111 1111, 10.0.0.7, https://a.b/c';
    expect(redactorOf(all).text(value)).toBe('[email removed], [credit card removed], [IP address removed], [URL removed]');
    expect(redactorOf({ email: 'mask', creditCard: 'mask', ip: 'mask', url: 'mask' }).text(value)).toBe(
      'b***@***.com, ****-****-****-1111, ***.***.***.7, https://***',
    );
    const hash = createHash('sha256').update('bob@example.com').digest('hex').slice(0, 12);
    expect(redactorOf({ email: 'hash' }).text('bob@example.com')).toBe(`[email ${hash}]`);
    expect(() => redactorOf({ email: 'block' }).text(value)).toThrow(
      'There is data of the kind "email" in a test, which the agent does not let pass.',
    );
  });

  it('counts once where several rules meet', () => {
    expect(redactorOf(all).text('https://bob@example.com/10.0.0.1 x')).toBe('[URL removed] x');
  });

  it('may be a number of JSON, which becomes a text', () => {
    const redactor = redactorOf({ creditCard: 'mask', custom: { ticket: { pattern: '\\b77[0-9]{4}\\b', strategy: 'redact' } } });
    expect(redactor.json({ card: 4111111111111111, list: [771234, 12], at: 1763756026123, share: 0.5 })).toEqual({
      card: '****-****-****-1111',
      list: ['[ticket removed]', 12],
      at: 1763756026123,
      share: 0.5,
    });
    const same = { age: 3 };
    expect(redactor.json(same)).toBe(same);
  });

  it('may be cut into texts that follow each other', () => {
    const redactor = redactorOf(all);
    expect(redactor.texts(['Ask bob@exa', 'mple.com now'])).toEqual(['Ask [email removed]', ' now']);
    expect(redactor.texts(['4111 1111', ' 1111', ' 1111.'])).toEqual(['[credit card removed]', '', '.']);
    expect(redactor.texts(['card 4111 1111 1111 1111', '12 left'])).toEqual(['card [credit card removed]', '12 left']);
    const parts: readonly Part[] = [
      { type: 'text', text: 'bob@exa' },
      { type: 'text', text: 'mple.com', extra: { signature: 's' } },
      { type: 'file', mediaType: 'image/png', data: 'AA==' },
      { type: 'text', text: 'plain', extra: { signature: 's' } },
    ];
    expect(redactor.message({ role: 'user', parts }, () => true).parts).toEqual([
      { type: 'text', text: '[email removed]' },
      parts[2],
      parts[3],
    ]);
  });

  it('changes nothing that has been changed', () => {
    for (const strategy of ['redact', 'mask', 'hash'] as const) {
      const redactor = redactorOf({ email: strategy, creditCard: strategy, ip: strategy, url: strategy });
      const once = redactor.text('bob@example.com, 4111 1111 1111 1111, 10.0.0.7, https://a.b/c');
      expect(redactor.text(once)).toBe(once);
    }
  });
});

describe('patterns of one’s own', () => {
  const found = (pattern: string, text: string, ignoreCase = false): readonly string[] => {
    const finder = new Pattern(pattern, ignoreCase).finder(0);
    finder.feed(text);
    return finder.spansAtEnd().map(({ start, end }) => text.slice(start, end));
  };

  it.each<[string, string, readonly string[]]>([
    ['TCK-[0-9]{6}', 'TCK-123456TCK-654321 TCK-12', ['TCK-123456', 'TCK-654321']],
    ['\\bcat\\b', 'cat concat cat.', ['cat', 'cat']],
    ['(ab|a)c?', 'abc a', ['abc', 'a']],
    ['a{2,3}', 'a aa aaa', ['aa', 'aaa']],
    ['[^,]+@', 'a,b c@,d', ['b c@']],
    ['\\d+\\.\\d\\d', 'is 12.50.', ['12.50']],
    ['x[a\\-z]y', 'x-y xby', ['x-y']],
    ['[a-]', 'b-a', ['-', 'a']],
    ['.\\n', 'a\nb', ['a\n']],
    ['(?:ab)+', 'ababab', ['ababab']],
    ['你好+', '说你好好', ['你好好']],
    ['[^\\W\\d]{2}', 'a1bc', ['bc']],
    ['\\x41\\u0042c?', 'AB-ABc', ['AB', 'ABc']],
    ['a{0}b{1,}', 'abb', ['bb']],
    ['a{,2}', 'aa a{,2}', ['a{,2}']],
  ])('%s in %j', (pattern, text, expected) => expect(found(pattern, text)).toEqual(expected));

  it('may leave upper and lower case aside', () => expect(found('tck-[a-f]', 'TCK-B', true)).toEqual(['TCK-B']));

  it.each<[string, RegExp]>([
    ['(?=a)b', /it looks around/],
    ['(?<a>b)', /names a group/],
    ['(a', /Unterminated group/],
    ['^a', /"\^" is not known here/],
    ['a*', /found everywhere/],
    ['\\b(a|(b*)*)', /found everywhere/],
    ['a+?', /behind a repetition/],
    ['a{3,1}', /out of order/],
    ['a{9999}', /more than 2000 steps/],
    ['(a{100}){100}', /more than 2000 steps/],
    ['(a)\\1', /\\1 is not known here/],
    ['a\\B', /\\B is not known here/],
  ])('refuse %s', (pattern, message) => expect(() => new Pattern(pattern, false)).toThrow(message));
});

describe('hostile text', () => {
  const size = 200_000;
  const ways: Readonly<Record<string, string>> = {
    'the same letter': 'a'.repeat(size),
    at: 'a@'.repeat(size / 2),
    dots: 'a@' + 'b.'.repeat(size / 2),
    digits: '1'.repeat(size),
    'digits with gaps': '1 '.repeat(size / 2),
    cards: '4111111111111111 '.repeat(size / 17),
    'words without blanks': '你好'.repeat(size / 2),
    colons: ':'.repeat(size),
    hex: 'ab:'.repeat(size / 3),
    slashes: 'http://'.repeat(size / 7),
    schemes: '://'.repeat(size / 3),
  };
  const hostile = redactorOf({ ...all, custom: { evil: { pattern: '(a+)+b|x|x.*y', strategy: 'redact' } } });

  it.each(Object.keys(ways))('of %s takes one pass', (way) => {
    const begun = process.cpuUsage();
    hostile.text(ways[way] ?? '');
    const { user, system } = process.cpuUsage(begun);
    expect((user + system) / 1000).toBeLessThan(4000);
  });

  it('in small pieces takes one pass', () => {
    const redactor = redactorOf(all);
    for (const way of ['digits with gaps', 'cards', 'words without blanks', 'at', 'hex']) {
      const text = (ways[way] ?? '').slice(0, 40_000);
      const begun = process.cpuUsage();
      const stream = redactor.stream();
      let out = '';
      for (let at = 0; at < text.length; at += 3) out += joined(stream.push(text.slice(at, at + 3)));
      expect(out + joined(stream.end())).toBe(redactor.text(text));
      expect([way, process.cpuUsage(begun).user / 1000 < 1500]).toEqual([way, true]);
    }
  });

  it('in small pieces of a run without an end takes one pass', () => {
    const begun = process.cpuUsage();
    const stream = hostile.stream();
    let out = '';
    for (let piece = 0; piece < 20_000; piece++) out += joined(stream.push('aaa1'));
    out += joined(stream.end());
    expect(out).toHaveLength(80_000);
    expect(process.cpuUsage(begun).user / 1000).toBeLessThan(4000);
  });
});

describe('a text in pieces', () => {
  const texts = [
    'Mail bob@example.com or call. Card 4111 1111 1111 1111! From 10.0.0.1, see https://example.com/x?y=z, TCK-123456 done.',
    `Numbers: ${Array.from({ length: 80 }, (_, n) => n).join(' ')} 4111 1111 1111 1111 ${'7 '.repeat(60)}4111111111111111`,
    `${'9'.repeat(120)} 378282246310005 ${'12345678901234567890'.repeat(6)}`,
  ];
  const redactor = redactorOf({ ...all, custom: { ticket: { pattern: '\\bTCK-[0-9]{6}\\b', strategy: 'redact' } } });

  it.each(texts)('comes out as the whole would: %s', (text) => {
    const expected = redactor.text(text);
    for (let size = 1; size <= 40; size++) {
      const stream = redactor.stream();
      let out = '';
      for (let at = 0; at < text.length; at += size) out += joined(stream.push(text.slice(at, at + size)));
      expect(out + joined(stream.end())).toBe(expected);
    }
  });

  const words = [
    ...['bob@example.com', 'иван@пример.рф', '用户@例子.公司', '4111 1111 1111 1111', '12fe80::1', '10.0.0.1', 'http://a.b/c', 'www.x.y'],
    ...['TCK-123456', ' ', '.', ',', '@', '1', '-', ':', '😀', 'é', '你', 'ab', 'aba', '\n', '[email removed]', '^'],
    ...[' 4'.repeat(40), 'a@'.repeat(20)],
  ];

  it('comes out as the whole would however it is cut, by several rules and in several texts', () => {
    const rules: readonly PiiOptions[] = [
      {
        ...all,
        custom: { many: { pattern: '[^,]{3,9}@', strategy: 'redact', ignoreCase: true }, ab: { pattern: '(ab|aba)+x?', strategy: 'hash' } },
      },
      {
        creditCard: 'mask',
        ip: 'redact',
        custom: { w: { pattern: '\\b1+\\b', strategy: 'redact' }, n: { pattern: '[^ ]\\b-', strategy: 'mask' } },
      },
      { email: 'mask', url: 'hash' },
    ];
    const random = new Random('7');
    for (let round = 0; round < 600; round++) {
      const cutter = redactorOf(rules[round % rules.length] ?? all);
      const given = Array.from({ length: 1 + random.below(3) }, () =>
        Array.from({ length: 1 + random.below(6) }, () => words[random.below(words.length)] ?? '').join(''),
      );
      const stream = cutter.stream();
      const out = given.map(() => '');
      const take = (pieces: ReturnType<typeof stream.push>): void =>
        pieces.forEach(({ of, text }) => {
          expect(isWellFormed(text)).toBe(true);
          out[of] += text;
        });
      given.forEach((text, position) => {
        if (position > 0) stream.next();
        for (let at = 0; at < text.length;) {
          const size = 1 + random.below(5);
          take(stream.push(text.slice(at, at + size)));
          at += size;
        }
      });
      take(stream.end());
      expect([given, out]).toEqual([given, cutter.texts(given)]);
    }
  });

  it('is held back only as far as it may still become a match', () => {
    const stream = redactor.stream();
    expect(joined(stream.push('Hello, this is '))).toBe('Hello, this is ');
    expect(joined(stream.push('bob@exa'))).toBe('');
    expect(joined(stream.push('mple.com and '))).toBe('[email removed] and ');
    expect(joined(stream.push('a long list 1 2 3 '))).toBe('a long list ');
    expect(joined(stream.push('x'))).toBe('1 2 3 ');
  });
});

const basics = { description: 'Works.', inputSchema: z.object({}) };
const enhanced = { ...basics, enhanced: true as const };
const tools = {
  lookup: defineTool({
    description: 'Finds somebody.',
    inputSchema: z.object({ name: z.string() }),
    execute: ({ name }) => {
      if (name === 'nobody') throw new Error('nobody@example.com is unknown');
      if (name === 'coded') throw new HoldfastError('tool-timeout', 'nobody@example.com is slow');
      return { name, contact: ['bob@example.com', { card: '4111 1111 1111 1111' }], age: 3 };
    },
  }),
  read: defineTool({
    ...basics,
    stream: async function* () {
      yield* ['From bob@ex', 'ample.com, he', 'llo'];
    },
  }),
  scan: defineTool({
    ...enhanced,
    stream: async function* (): AsyncGenerator<Part> {
      yield { type: 'text', text: 'bob@exa' };
      yield { type: 'text', text: 'mple.com' };
      yield { type: 'file', mediaType: 'image/png', data: 'AA==' };
      yield { type: 'text', text: 'ann@b.co' };
    },
  }),
  show: defineTool({ ...enhanced, execute: async (): Promise<readonly Part[]> => [{ type: 'text', text: 'bob@example.com' }] }),
};

async function runWith(
  options: PiiOptions,
  steps: readonly ScriptedStep[],
  more: { input?: Json; stream?: boolean; layers?: readonly AgentMiddleware[] } = {},
) {
  const deltas: Delta[] = [];
  const model = scriptedModel(steps, { stream: more.stream === true });
  const run = await testRun(agentWith({ tools: Object.keys(tools), middleware: [...(more.layers ?? []), pii(options)] }), {
    input: more.input ?? 'Hi',
    model,
    tools,
    stream: more.stream === true,
    onDelta: (delta) => deltas.push(delta),
  });
  return { run, model, deltas, outcome: await run.outcome() };
}

describe.each([false, true])('pii in a run (streams: %s)', (stream) => {
  it('changes what users say, in the state, also what parts have together', async () => {
    const parts = ['I am bob@exa', 'mple.com'].map((text) => ({ type: 'text', text }));
    const { run, model } = await runWith({ email: 'redact' }, [{ text: 'Done.' }], { input: [{ role: 'user', parts }], stream });
    expect(await transcriptOf(run)).toEqual(['user: I am [email removed]', 'assistant: Done.']);
    expect(model.requests[0]?.messages[0]?.parts).toEqual([{ type: 'text', text: 'I am [email removed]' }]);
  });

  it('changes what the model says, before anything of it is seen', async () => {
    const { run, deltas, outcome } = await runWith(
      { email: 'redact' },
      [{ text: ['It is bob', '@exam', 'ple.com', ' for sure'] as never }],
      { stream },
    );
    expect(outcome).toMatchObject({ status: 'completed', text: 'It is [email removed] for sure' });
    expect(JSON.stringify([deltas, await logOf(run)])).not.toMatch(/bob|exam/);
    if (stream)
      expect(deltas.flatMap((delta) => (delta.type === 'text-delta' ? [delta.text] : [])).join('')).toBe('It is [email removed] for sure');
  });

  it('changes what tools give back, of all kinds, and what they complain of, with a code or without', async () => {
    const call = (name: string, input: Json = {}): { name: string; input: Json } => ({ name, input });
    const lookup = (name: string) => call('lookup', { name });
    const { run, deltas } = await runWith(
      { email: 'redact', creditCard: 'mask' },
      [{ toolCalls: [lookup('bob'), call('read'), call('scan'), call('show'), lookup('nobody'), lookup('coded')] }, { text: 'Done.' }],
      { stream },
    );
    expect((await transcriptOf(run)).slice(2, 8)).toEqual([
      'tool: {"name":"bob","contact":["[email removed]",{"card":"****-****-****-1111"}],"age":3}',
      'tool: From [email removed], hello',
      'tool: [{"type":"text","text":"[email removed]"},{"type":"file","mediaType":"image/png","data":"AA=="},{"type":"text","text":"[email removed]"}]',
      'tool: [{"type":"text","text":"[email removed]"}]',
      "tool: error The tool 'lookup' failed: [email removed] is unknown",
      "tool: error The tool 'lookup' failed: [email removed] is slow",
    ]);
    expect(JSON.stringify([deltas, await logOf(run)])).not.toMatch(/bob@|ann@|nobody@|4111 ?1111/);
  });

  it('leaves the arguments of calls alone, unless it is told not to', async () => {
    const step: ScriptedStep = { toolCalls: [{ name: 'lookup', input: { name: 'bob@example.com' } }] };
    const { run } = await runWith({ email: 'redact', applyTo: ['output'] }, [step, { text: 'Done.' }], { stream });
    expect((await transcriptOf(run))[1]).toContain('bob@example.com');
    const other = await runWith({ email: 'redact', applyTo: ['arguments'] }, [step, { text: 'Done.' }], { stream });
    expect((await transcriptOf(other.run))[1]).toBe('assistant: lookup({"name":"[email removed]"})');
    expect(JSON.stringify(other.deltas)).not.toMatch(/bob/);
  });

  it('ends the run where data is blocked, and tries no other call', async () => {
    const block: PiiOptions = { email: 'block' };
    const said = await runWith(block, [{ text: 'It is bob@example.com' }], { stream, layers: [modelRetry({ attempts: 5 })] });
    const kept = { code: 'pii-found', message: expect.stringMatching(/^There is data of the kind "email" in an answer of the model/) };
    expect(said.outcome).toMatchObject({ status: 'failed', error: kept });
    expect(JSON.stringify([said.deltas, await logOf(said.run)])).not.toMatch(/bob@/);
    const asked = await runWith(block, [], { input: 'I am bob@example.com', stream });
    expect(asked.outcome).toMatchObject({ error: { code: 'pii-found', message: expect.stringContaining('in what a user said') } });
    const got = await runWith(block, [{ toolCalls: [{ name: 'show', input: {} }] }], { stream });
    expect(got.outcome).toMatchObject({ error: { code: 'pii-found', message: expect.stringContaining('in the result of a tool') } });
  });

  it('also changes results that no tool of the worker gave', async () => {
    const answers: AgentMiddleware = { name: 'answers', wrapToolCall: async () => 'Ask ann@b.co' };
    const { model } = await runWith({ email: 'redact' }, [{ toolCalls: [{ name: 'show', input: {} }] }, { text: 'Done.' }], {
      stream,
      layers: [answers],
    });
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('Ask [email removed]');
  });
});

it('changes what a person says in place of a tool, wherever the approval stands', async () => {
  for (const decision of [
    { type: 'reject', feedback: 'Ask ann@b.co' },
    { type: 'respond', output: { ask: 'ann@b.co', card: 4111111111111111 } },
  ] as const) {
    const layers = [approval({ tools: { show: true } }), pii({ email: 'redact', creditCard: 'redact' })];
    const model = scriptedModel([{ toolCalls: [{ name: 'show', input: {} }] }, { text: 'Done.' }]);
    const run = await testRun(agentWith({ tools: ['show'], middleware: layers }), { input: 'Hi', model, tools });
    const [asked] = await run.interrupts();
    await run.resume(asked?.id ?? '', decision, { by: 'ann' });
    await run.outcome();
    const end = (await logOf(run)).find(({ type }) => type === 'tool-end');
    expect(JSON.stringify(end)).not.toMatch(/ann@|4111 ?1111/);
    expect(JSON.stringify([await run.transcript(), model.requests[1]?.messages])).not.toMatch(/ann@|4111 ?1111/);
  }
});

it('changes what an agent answers that is a tool, and the error of one that fails', async () => {
  const inner = defineAgent({ name: 'inner', description: 'Helps.', instructions: '', model: 'in/m', tools: [] });
  for (const step of [{ text: 'It is ann@b.co' }, { error: 'no ann@b.co' }]) {
    const model = scriptedModel({
      'test/model': [{ toolCalls: [{ name: 'inner', input: { request: 'go' } }] }, { text: 'Done.' }],
      'in/m': [step],
    });
    const outer = defineAgent({
      ...{ name: 'outer', description: 'Asks.', instructions: '', model: 'test/model' },
      ...{ tools: [agentTool(inner)], middleware: [pii({ email: 'redact' })] },
    });
    const run = await testRun(outer, { input: 'Hi', model, tools });
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(JSON.stringify([await logOf(run), await run.transcript()])).not.toMatch(/ann@/);
  }
});

async function partsOf(chunks: readonly ModelChunk[]): Promise<unknown> {
  async function* streamed(): AsyncGenerator<ModelChunk> {
    yield* chunks;
  }
  const model: LanguageModel = { generate: () => answerOfChunks(streamed()), stream: streamed };
  const run = await testRun(agentWith({ tools: [], middleware: [pii({ email: 'redact' })] }), { input: 'Hi', model, stream: true });
  await run.outcome();
  return (await run.transcript())[1]?.parts;
}

it('keeps the parts of a stream in their places, and signatures only where nothing was changed', async () => {
  const parts = await partsOf([
    { type: 'reasoning', text: 'Ask bob@', block: 'r' },
    { type: 'text', text: 'ann@b.co', block: 't' },
    { type: 'reasoning', text: 'x.yz', block: 'r', extra: { signature: 's' } },
    { type: 'part', part: { type: 'file', mediaType: 'image/png', data: 'AA==' } },
    { type: 'finish', usage: { inputTokens: 1, outputTokens: 1 } },
  ]);
  expect(parts).toMatchObject([
    { type: 'reasoning', text: 'Ask [email removed]' },
    { type: 'text', text: '[email removed]' },
    { type: 'file' },
  ]);
});

it.each([false, true])('finds what the parts of an answer have together, and keeps them apart (streams: %s)', async (stream) => {
  const parts: readonly Part[] = ['Ask bob@exa', 'mple.com or ', 'ann@b.co'].map((text) => ({ type: 'text', text }));
  async function* streamed(): AsyncGenerator<ModelChunk> {
    for (const chunk of chunksOf({ parts, finish: 'stop' })) {
      if (chunk.type === 'text') for (const sign of chunk.text) yield { ...chunk, text: sign };
      else yield chunk;
    }
  }
  const model: LanguageModel = { generate: async () => ({ parts }), stream: streamed };
  const deltas: Delta[] = [];
  const run = await testRun(agentWith({ tools: [], middleware: [pii({ email: 'redact' })] }), {
    ...{ input: 'Hi', model, stream },
    onDelta: (delta) => deltas.push(delta),
  });
  await run.outcome();
  const said = ['Ask [email removed]', ' or ', '[email removed]'].map((text) => ({ type: 'text', text }));
  expect((await run.transcript())[1]?.parts).toEqual(said);
  expect(JSON.stringify([deltas, await logOf(run)])).not.toMatch(/bob|exa|mple\.|ann@/);
});

it('looks behind what was seen when a part goes on after the next one has begun', async () => {
  const parts = await partsOf([
    { type: 'text', text: 'Ask bob@', block: 'one' },
    { type: 'text', text: ' Also ', block: 'two' },
    { type: 'text', text: 'example.com', block: 'one' },
    { type: 'text', text: 'ann@b.co', block: 'two', extra: { signature: 's' } },
    { type: 'finish' },
  ]);
  expect(parts).toEqual([
    { type: 'text', text: 'Ask bob@[email removed]' },
    { type: 'text', text: ' Also [email removed]' },
  ]);
});

it.each<[string, unknown, RegExp]>([
  ['nothing to look for', {}, /pii: say what to look for/],
  ['an unknown strategy', { email: 'hide' }, /email must be "block", "redact", "mask" or "hash"\. It is "hide"\./],
  ['an unknown kind', { phone: 'redact' }, /there is no option "phone"/],
  ['an unknown place', { email: 'mask', applyTo: ['history'] }, /applyTo must be an array .*\. It is \["history"\]\./],
  [
    'a pattern that looks around',
    { custom: { a: { pattern: '(?<=x)y', strategy: 'mask' } } },
    /pii, custom "a": its pattern .*: it looks around/,
  ],
  ['a pattern without a strategy', { custom: { a: { pattern: 'y' } } }, /strategy must be "block", .*\. It is missing\./],
  ['a regular expression', { custom: { a: { pattern: /y/, strategy: 'mask' } } }, /pattern must be a string .*\. It is a RegExp\./],
])('the options of pii refuse %s', (_, options, message) => {
  expect(() => pii(options as PiiOptions)).toThrow(message);
});
