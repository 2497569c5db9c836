import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { FoundService } from '../../../cli/found-service';
import { EventLines } from '../../../cli/event-lines';
import { programFor, runCommandLine } from '../../../cli/program';
import { reportError } from '../../../cli/report-error';
import { temporalLog } from '../../../cli/processes/temporal-log';
import { askAt, painter, writersTo } from '../../../cli/terminal';
import type { ErrorCode } from '../../../contract/errors';
import { HoldfastError, errorTable } from '../../../contract/errors';
import type { RunEvent } from '../../../contract/events';
import { createLogger, logFormats } from '../../../host/logger';
import { PassThrough } from 'node:stream';
import { hostile, hostileAnswers, hostileText, steering } from '../../support/hostile-samples';
import { recordedTerminal } from '../../support/recorded-terminal';

let found: FoundService;
jest.mock('../../../cli/find-service', () => ({ findService: async () => found }));
// Commands load compiled names on demand.
for (const name of ['answer', 'conversation', 'list', 'policy', 'read', 'retry', 'run']) {
  const file = `../../../cli/commands/${name}-commands`;
  jest.doMock(`${file}.js`, () => jest.requireActual<object>(file), { virtual: true });
}
const showing = ['run', 'approve', 'reject', 'answer', 'policy', 'chat', 'send', 'queue', 'list', 'show', 'events', 'inbox', 'agents'];

const codes = Object.keys(errorTable) as ErrorCode[];
const answers = hostileAnswers();
const events = answers['events'] as readonly RunEvent[];
/** No command shows a single call, and events come in one round. */
const isShown = (method: string): boolean => method !== 'call' && !method.toLowerCase().includes('events');
const rounds = Math.max(...Object.entries(answers).map(([method, samples]) => (isShown(method) ? samples.length : 1)));

function serviceOf(round: number, failing?: { readonly code: ErrorCode; readonly from: number }): FoundService {
  let calls = 0;
  let views = 0;
  const streams: readonly string[] = ['events', 'liveEvents'];
  const service = new FoundService('http://service', ['--url', hostile]);
  return new Proxy(service, {
    get(target, method: string) {
      const samples = answers[method];
      if (samples === undefined) return Reflect.get(target, method) as unknown;
      const fail = (): void => {
        if (failing !== undefined && (calls += 1) > failing.from) throw new HoldfastError(failing.code, hostile);
      };
      if (streams.includes(method))
        return async function* () {
          fail();
          for (const [offset, event] of samples.entries()) yield { ...(event as object), offset, time: 0 };
        };
      return async () => {
        fail();
        const sample = samples[round % samples.length] as Record<string, unknown>;
        if (method === 'view') {
          const { status } = sample;
          views += 1;
          return { ...sample, nextOffset: events.length, status: views > 1 ? 'completed' : status === 'running' ? 'waiting' : status };
        }
        return method === 'applyPolicy' ? { ...sample, next: undefined } : sample;
      };
    },
  });
}

function commandLines(): readonly (readonly string[])[] {
  const { commands } = programFor(recordedTerminal({ live: false }), () => undefined);
  const all = commands.flatMap((outer) =>
    outer.commands.length === 0 ? [{ outer, inner: outer }] : outer.commands.map((inner) => ({ outer, inner })),
  );
  const ofService = all.filter(({ inner }) => inner.options.some(({ long }) => long === '--url'));
  return ofService.flatMap(({ outer, inner }) => {
    const needed = inner.registeredArguments.map((argument) => (['json', 'input'].includes(argument.name()) ? '{}' : 'x'));
    const required = inner.options.flatMap((option) => (option.mandatory ? [option.long ?? '', 'waiting'] : []));
    const words = [...(outer === inner ? [] : [outer.name()]), inner.name(), ...needed, ...required];
    const switches = inner.options.filter((option) => !option.required && !option.optional).map(({ long }) => long ?? '');
    return [words, ...switches.map((flag) => [...words, flag])];
  });
}

async function writtenBy(words: readonly string[]): Promise<string> {
  const terminal = recordedTerminal({ live: words.length % 2 === 0, colored: true, ...(words[0] === 'chat' ? { typed: ['hello'] } : {}) });
  await runCommandLine(words, terminal);
  return withoutStyles(terminal.written());
}

const withoutStyles = (text: string): string => text.replace(/\u001b\[(?:1|2|22|3[1236]|39)m/g, '');

describe('what others have written does not steer a terminal', () => {
  it('in no field of what the service answers, whatever command shows it', async () => {
    const lines = commandLines();
    const silent = new Set(lines.map((words) => words.join(' ')));
    for (let round = 0; round < rounds; round += 1) {
      for (const words of lines) {
        found = serviceOf(round);
        const written = await writtenBy(words);
        expect(`${words.join(' ')}\n${written}`).not.toMatch(steering);
        if (written.includes('\\u001b[2J')) silent.delete(words.join(' '));
      }
    }
    expect([...silent].filter((line) => showing.includes(line.split(' ')[0] ?? '') && !line.endsWith('--no-follow'))).toEqual([]);
  });

  it('in no error of the service, whatever command meets it', async () => {
    for (const [at, words] of commandLines().entries())
      for (const from of [0, 1, 2]) {
        found = serviceOf(0, { code: codes[(at * 3 + from) % codes.length]!, from });
        expect(`${words.join(' ')}\n${await writtenBy(words)}`).not.toMatch(steering);
      }
  });

  it('in no error with its causes', () => {
    const cause = Object.assign(new Error(hostile), { stack: `Error: ${hostile}\n    at ${hostile}` });
    for (const code of codes) {
      const terminal = recordedTerminal({ live: false, colored: true });
      reportError(new HoldfastError(code, hostile, { cause }), terminal, { HOLDFAST_LOG_LEVEL: 'debug' });
      expect(withoutStyles(terminal.written()).replace(/^error: /gm, '')).not.toMatch(steering);
    }
  });

  it('in no field of an event or of a piece of an answer, as it happens', () => {
    const all = [...events, ...answers['liveEvents']!].map((event, offset) => ({ ...(event as RunEvent), offset, time: 0 }));
    for (const event of all) {
      const terminal = recordedTerminal({ live: true, colored: true });
      new EventLines(terminal).show(event);
      expect(withoutStyles(terminal.written())).not.toMatch(steering);
    }
  });

  it('in no question that is asked there, nor in the text that is offered to be changed', async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    const asked = askAt({ input, output }, hostileText, JSON.stringify({ amount: hostileText }));
    input.write('\n');
    await asked;
    expect(String(output.read())).not.toMatch(steering);
  });

  const outOf = (act: (writers: ReturnType<typeof writersTo>) => void): string => {
    let out = '';
    const write = (text: string): void => void (out += text);
    act(writersTo(write, () => undefined));
    return out;
  };

  it('and what is shown as JSON stays the same value', () => {
    const out = outOf(({ writeText }) => writeText(JSON.stringify({ [hostile]: hostile }, null, 2)));
    expect(JSON.parse(out)).toEqual({ [hostile]: hostile });
  });

  it('and a style is ours alone', () => {
    expect(outOf(({ write }) => write(painter(true).bold('\u001b[31mred')))).toBe('\u001b[1m\\u001b[31mred\u001b[22m\n');
  });
});

describe.each(logFormats)('a log as %s', (format) => {
  const logged = (use: (logger: ReturnType<typeof createLogger>) => void): string => {
    let text = '';
    use(createLogger({ level: 'trace', format, write: (line) => void (text += line) }));
    return text;
  };
  const fields = {
    [hostile]: hostile,
    plain: hostile.replace(/\s/g, ''),
    source: hostile,
    stack: `${hostile}\n    at ${hostile}`,
    list: [hostile],
  };

  it.each(['trace', 'debug', 'info', 'warn', 'error'] as const)('has nothing that steers a terminal at the level %s', (level) => {
    const text = logged((logger) =>
      logger[level](hostile, { ...fields, error: new HoldfastError('tool-failed', hostile, { cause: new Error(hostile) }) }),
    );
    expect(text).not.toMatch(steering);
    if (format === 'json') expect(JSON.parse(text)).toMatchObject({ message: hostile, [hostile]: hostile });
  });

  it("has nothing of it in Temporal's lines and in the news of runs", () => {
    const meta = { workflowId: hostile, holdfast: hostile, run: hostile, ...fields, error: new Error(hostile) };
    const text = logged((logger) => {
      temporalLog(logger)('WARN', hostile, meta);
      temporalLog(logger)('ERROR', hostile, { ...meta, holdfast: undefined });
    });
    expect(text).not.toMatch(steering);
  });
});

it('nothing but the terminal, the logger and the command itself writes to the streams of the process', () => {
  const folders = 'activities cli client contract host kernel middleware service testing worker workflows';
  const places = folders.split(' ').map((folder) => `${folder}/*.ts`);
  // An example in a comment may write.
  const words = ['-lE', '-e', '(process\\.(stdout|stderr)|console)\\.[a-z]+\\(', '--and', '--not', '-e', '^ *\\*', '--', ...places];
  const files = execFileSync('git', ['grep', ...words], { cwd: join(__dirname, '..', '..', '..'), encoding: 'utf8' })
    .trim()
    .split('\n');
  // The last file is another program, whose words the parent process reads.
  expect(files).toEqual(['cli/terminal.ts', 'host/logger.ts', 'host/server/server-download.ts']);
});
