import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answer } from '../../../cli/commands/answer-commands';
import { askDecision } from '../../../cli/ask-decision';
import { interruptLines } from '../../../cli/event-lines';
import { findService } from '../../../cli/find-service';
import { commandsFor } from '../../../cli/next-commands';
import { runCommandLine } from '../../../cli/program';
import { recordService, recordStart } from '../../../cli/processes/service-record';
import { commandLine, runLine, shellWord } from '../../../contract/shell-words';
import { externalAnswerSchema } from '../../../contract/external-calls';
import type { Interrupt } from '../../../contract/interrupts';
import { misfitOf } from '../../../contract/interrupts';
import type { Json } from '../../../contract/messages/messages';
import { recordedTerminal } from '../../support/recorded-terminal';
import { errorSaying } from '../../support/failures';

// Commands load compiled names on demand.
jest.mock('../../../host/configuration.js', () => jest.requireActual('../../../host/configuration'), { virtual: true });

const base = { id: 'support.t2.refund-0.approval.1', address: ['support', 't2', 'refund.0', 'approval'], agent: 'support' };
const approval = (other: Partial<Interrupt> = {}): Interrupt =>
  ({ ...base, kind: 'approval', tool: 'refund', callId: 'c1', input: {}, inputHash: 'h', ...other }) as Interrupt;
const question = (answerSchema?: Json): Interrupt => ({
  ...base,
  kind: 'question',
  info: 'How many?',
  ...(answerSchema === undefined ? {} : { answerSchema }),
});
const external: Interrupt = {
  ...base,
  kind: 'custom',
  info: { externalCall: { tool: 'pickColor', callId: 'c1', input: { of: 'car' } } },
  answerSchema: externalAnswerSchema,
};
const doubtful: Interrupt = { ...base, kind: 'in-doubt', info: 'x' };
const pasted = (line: string): readonly string[] => {
  const { stdout } = spawnSync('sh', ['-c', `for word in ${line}; do printf '%s\\0' "$word"; done`], { encoding: 'utf8' });
  return stdout.split('\0').slice(2, -1);
};
const nameless = { flags: [], hasKey: false };
const decided = (interrupt: Interrupt, flags: readonly string[] = [], by?: string): readonly string[] =>
  pasted(commandsFor('r', interrupt, { flags, hasKey: false }, by)[0] ?? '').slice(3);

describe('a command that is shown', () => {
  it.each(["ada o'hara", '$HOME', '`id`', 'a"b', '', '-x', 'two\nlines', '*', '~', 'a;b', '!x', 'привет', '\\'])(
    'is one word in a shell for each of ours: %j',
    (text) => {
      expect(pasted(commandLine('run', text))).toEqual(['run', text]);
      expect(pasted(runLine('support', text)).at(-1)).toBe(text);
    },
  );

  it('names nobody to a service that knows the caller by a key', () => {
    const asked = { ...approval(), by: ['ada'], notBy: ['bob'] };
    expect(commandsFor('r', asked, { flags: [], hasKey: true })[0]).toBe('npx holdfast approve r support.t2.refund-0.approval.1');
  });

  it('quotes nothing that needs none', () => {
    expect(commandsFor('ticket-1', approval(), nameless)).toEqual([
      'npx holdfast approve ticket-1 support.t2.refund-0.approval.1',
      'npx holdfast reject ticket-1 support.t2.refund-0.approval.1',
    ]);
    expect(shellWord('boss.run.support~1.t2')).toBe('boss.run.support~1.t2');
    expect(runLine('support', 'Refund order 42')).toBe('npx holdfast run support "Refund order 42"');
  });

  it('names who may decide: whoever asked, when that is one of them, else the first, and nobody who would be refused', () => {
    const named = approval({ by: ["ada o'hara", 'bob'] });
    expect(decided(named)).toEqual(['--by', "ada o'hara"]);
    expect(decided(named, [], 'bob')).toEqual(['--by', 'bob']);
    expect(decided(named, [], 'eve')).toEqual(['--by', "ada o'hara"]);
    expect(decided(approval(), [], 'eve')).toEqual(['--by', 'eve']);
    expect(decided(approval())).toEqual([]);
    expect(decided(approval({ by: ['ada', 'bob'], notBy: ['ada'] }))).toEqual(['--by', 'bob']);
    expect(decided(approval({ by: ['ada'], notBy: ['ada'] }), [], 'ada')).toEqual(['--by', 'your-name']);
    expect(decided(approval({ notBy: ['ada'] }), [], 'ada')).toEqual(['--by', 'your-name']);
    expect(decided(approval({ roles: ['boss'] }))).toEqual(['--by', 'your-name', '--role', 'boss']);
    const escalated = { by: ['ada'], notBy: ['ada'], steps: [{ at: 1, type: 'escalate' as const, by: ['cy'] }] };
    expect(decided(approval(escalated))).toEqual(['--by', 'cy']);
  });

  it('says where the service is', () => {
    const url = 'http://127.0.0.1:1/a;b?c';
    expect(decided(approval(), ['--url', url])).toEqual(['--url', url]);
  });

  it.each<[Json | undefined]>([
    [{ type: 'object', properties: { n: { type: 'integer', minimum: 3 }, note: { type: 'string' } }, required: ['n'] }],
    [{ type: 'object', properties: { tokens: { type: 'integer', minimum: 0 } }, additionalProperties: false }],
    [{ enum: ['red', 'blue'] }],
    [{ type: 'boolean' }],
    [{ type: 'array', items: { type: 'number' }, minItems: 1 }],
    [undefined],
  ])('answers with something of the form that is asked for: %j', (schema) => {
    const asked = question(schema);
    const [, , , answer] = pasted(commandsFor('r', asked, nameless)[0] ?? '');
    expect(misfitOf(asked, JSON.parse(answer ?? '') as Json)).toBeUndefined();
  });

  it('answers in words where no form is found', () => {
    expect(pasted(commandsFor('r', question({ type: 'string', pattern: '^[0-9]{9}$' }), nameless)[0] ?? '').at(3)).toBe('"<your answer>"');
  });

  it.each([
    ['<the result>', doubtful],
    ['<the result>', external],
    ['<your answer>', question({ type: 'object', properties: { note: { type: 'string', minLength: 40 } } })],
    ['<your answer>', question()],
  ])('is refused while %s stands in it', async (blank, interrupt) => {
    const printed = pasted((commandsFor('r', interrupt, nameless)[0] ?? '').split('  #')[0] ?? '').at(3) ?? '';
    await expect(answer({ id: 'r' } as never, printed, { follow: false })).rejects.toMatchObject(errorSaying('command-invalid', blank));
  });

  it('says both of a call that somebody else makes: its result, and why there is none', () => {
    const commands = commandsFor('r', external, nameless);
    const answers = commands.map((command) => pasted(command.split('  #')[0] ?? '').at(3) ?? '');
    expect(answers).toEqual(['{"output":"<the result>"}', '{"error":"<why there is none>"}']);
    for (const answer of answers) expect(misfitOf(external, JSON.parse(answer) as Json)).toBeUndefined();
  });

  it('says both of a call of which nobody knows whether it happened, and what comes of each', () => {
    const commands = commandsFor('r', doubtful, nameless);
    expect(commands.map((command) => pasted(command.split('  #')[0] ?? ''))).toEqual([
      ['answer', 'r', base.id, '{"happened":true,"result":"<the result>"}'],
      ['answer', 'r', base.id, '{"happened":false}'],
    ]);
    expect(commands.map((command) => command.split('  # ')[1])).toEqual([
      'it took effect, with this result',
      'it did not: it is called again',
    ]);
  });
});

it('says which agent asks when it is not the one that was started', () => {
  const terminal = recordedTerminal({ live: false });
  expect(interruptLines(approval(), terminal, 'support')[0]).toBe('? refund needs an approval');
  expect(interruptLines(approval(), terminal, 'boss')[0]).toBe('? [support] refund needs an approval');
  const again = interruptLines({ ...approval(), problem: "The arguments of 'refund' do not fit." } as Interrupt, terminal, 'support');
  expect(again[1]).toBe("  The arguments of 'refund' do not fit.");
  expect(interruptLines(approval({ address: ['boss', 'support', 't2'] }), terminal)[0]).toBe('? [support] refund needs an approval');
  expect(interruptLines(question(), terminal, 'boss')[0]).toBe('? [support] The run has a question');
});

it('shows the times of a call in doubt as people read them', () => {
  const doubtful = { ...base, kind: 'in-doubt', info: { tool: 'refund', firstAt: 0, lastAt: 61_000 } } as unknown as Interrupt;
  const lines = interruptLines(doubtful, recordedTerminal({ live: false })).join('\n');
  expect(lines).toContain('"firstAt": "1970-01-01 00:00:00 UTC",\n      "lastAt": "1970-01-01 00:01:01 UTC"');
});

it('shows a call that somebody else makes, and asks for its result', async () => {
  const terminal = recordedTerminal({ live: false });
  expect(interruptLines(external, terminal)[0]).toBe('? pickColor is called outside of the run, which waits for its result');
  const asked: string[] = [];
  const typing = { ask: (question: string) => (asked.push(question), Promise.resolve('red')), write: () => undefined };
  expect(await askDecision(external, typing as never)).toEqual({ body: { answer: { output: 'red' } } });
  expect(asked).toEqual(['  the result of the call (JSON or text; empty: later) ']);
});

describe('a service that is found', () => {
  it('is named in what is shown when a flag or the environment led to it', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-hints-'));
    const url = 'http://127.0.0.1:5000';
    const forget = recordService(directory, url);
    expect((await findService(`${url}/`)).flags).toEqual(['--url', `${url}/`]);
    expect((await findService(undefined, { HOLDFAST_DIR: directory })).flags).toEqual(['--url', url]);
    forget();
  });

  it('is waited for while it starts, and nowhere else', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-hints-'));
    const said: string[] = [];
    let waits: () => void = () => undefined;
    const isWaiting = new Promise<void>((resolve) => (waits = resolve));
    const say = (text: string): void => {
      said.push(text);
      waits();
    };
    const find = (): ReturnType<typeof findService> => findService(undefined, { HOLDFAST_DIR: directory }, { ms: 0, say });
    writeFileSync(join(directory, 'runs-1.31.2.db'), '');
    await expect(find()).rejects.toMatchObject({ code: 'service-unreachable' });
    const forgetStart = recordStart(directory);
    const atOnce = findService(undefined, { HOLDFAST_DIR: directory }, { say });
    await expect(atOnce).rejects.toMatchObject({ code: 'service-unreachable' });
    const found = find();
    await isWaiting;
    expect(said).toEqual(['The service is starting; waiting for it.']);
    const forget = recordService(directory, 'http://127.0.0.1:4998');
    expect((await found).url).toBe('http://127.0.0.1:4998');
    forget();
    forgetStart();
  });

  it('is waited for while it starts also where the environment names its port, and not where it names an address', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-hints-'));
    const said: string[] = [];
    const patience = { ms: 0, say: (text: string) => void said.push(text) };
    const forgetStart = recordStart(directory);
    await findService(undefined, { HOLDFAST_DIR: directory, HOLDFAST_URL: 'http://127.0.0.1:1' }, patience);
    expect(said).toEqual([]);
    const found = findService(undefined, { HOLDFAST_DIR: directory, HOLDFAST_PORT: '1' }, patience);
    while (said.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    const forget = recordService(directory, 'http://127.0.0.1:1');
    expect((await found).url).toBe('http://127.0.0.1:1');
    forget();
    forgetStart();
  }, 10_000);

  it('is never that of another project, where the directory has runs of its own', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-hints-'));
    writeFileSync(join(directory, 'runs-1.31.2.db'), '');
    await expect(findService(undefined, { HOLDFAST_DIR: directory })).rejects.toMatchObject(errorSaying('service-unreachable', directory));
    const forget = recordService(directory, 'http://127.0.0.1:4999');
    expect((await findService(undefined, { HOLDFAST_DIR: directory })).url).toBe('http://127.0.0.1:4999');
    forget();
  });

  it('is named when it is that of another directory, at the usual address', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-hints-'));
    const said: string[] = [];
    const patience = { ms: 0, say: (text: string) => void said.push(text) };
    const answering = jest.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response('{}'));
    try {
      expect((await findService(undefined, { HOLDFAST_DIR: directory }, patience)).url).toBe('http://127.0.0.1:4747');
      expect(said).toEqual([`No service runs on ${directory}. This is the one at http://127.0.0.1:4747, of another directory.`]);
      await findService(undefined, { HOLDFAST_DIR: directory, HOLDFAST_URL: 'http://127.0.0.1:4747' }, patience);
      await findService('http://127.0.0.1:4747', { HOLDFAST_DIR: directory }, patience);
      expect(said).toHaveLength(1);
    } finally {
      answering.mockRestore();
    }
  });

  it.each(['http://127.0.0.1:1/?x=1', 'http://127.0.0.1:1/#x', 'http://ada:secret@127.0.0.1:1', 'localhost', ''])(
    'has an address that routes can be put behind, not %j',
    async (url) => {
      const shown = url.replace('ada:secret', '[credentials]');
      await expect(findService(url)).rejects.toMatchObject(errorSaying('command-invalid', `'${shown}'`));
    },
  );
});

it.each<[readonly string[], string]>([
  [['aprove', 'r'], "unknown command 'aprove' (Did you mean approve?)"],
  [['policy', 'aply'], "unknown command 'aply' (Did you mean apply?)"],
  [['run', 'a', 'hi', '--deadlin', '3d'], "unknown option '--deadlin' (Did you mean --deadline?)"],
  [['completion'], "missing required argument 'shell'. It is one of bash, zsh, fish"],
  [['completion', 'pwsh'], "<shell> is 'pwsh'. It must be one of bash, zsh, fish."],
  [['show'], "missing required argument 'run'"],
  [['run', 'a', 'hi', '--deadline', 'soon'], '--deadline "soon" is no duration; write for example "30s", "2h" or "3d".'],
  [['resume', 'r', '--deadline', '0s'], '--deadline "0s" is no duration: the shortest is "1ms".'],
  [['retry', 'r', '--deadline', ''], '--deadline is empty; give it a value, or leave it out.'],
  [['cancel', 'r', '--within', 'a while'], '--within "a while" is no duration; write for example "30s", "2h" or "3d".'],
])('a command line that is wrong is answered with what was meant: %j', async (words, message) => {
  const terminal = recordedTerminal({ live: false });
  expect(await runCommandLine(words, terminal)).toBe(1);
  expect(terminal.written()).toContain(`error command-invalid: ${message}`);
  expect(terminal.written()).toContain('holdfast COMMAND --help');
});

it('an option that a command does not have is answered with those that it has', async () => {
  const terminal = recordedTerminal({ live: false });
  expect(await runCommandLine(['reject', 'ticket-1', '--reason', 'no'], terminal)).toBe(1);
  expect(terminal.written()).toContain("unknown option '--reason'. `reject` takes --feedback, --comment, --by, --role, --no-follow, --url");
});
