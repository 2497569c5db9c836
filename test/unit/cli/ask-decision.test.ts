import { PassThrough } from 'node:stream';
import { askDecision } from '../../../cli/ask-decision';
import { askAt, interrupted, processTerminal } from '../../../cli/terminal';
import type { Typed } from '../../../cli/terminal';
import type { Interrupt } from '../../../contract/interrupts';
import { recordedTerminal } from '../../support/recorded-terminal';

const approval = { kind: 'approval', input: { amount: 30, note: 'x' }, inputHash: 'h' } as unknown as Interrupt;
const inDoubt = { kind: 'in-doubt' } as Interrupt;

async function decided(interrupt: Interrupt, ...typed: Typed[]) {
  const asked: string[] = [];
  const terminal = {
    ...recordedTerminal({ live: false }),
    ask: async (question: string) => {
      asked.push(question.trim().split(/[ :]/)[0] ?? '');
      if (typed.length === 0) throw new Error('nothing more is typed');
      return typed.shift();
    },
  };
  const decision = await askDecision(interrupt, terminal);
  return { decision, asked, said: terminal.written() };
}

describe('a person who decides', () => {
  it('goes back to the choices with Ctrl-C, and sends nothing', async () => {
    for (const choice of ['reject', 'edit'])
      expect(await decided(approval, choice, interrupted, 'later')).toMatchObject({
        decision: 'later',
        asked: ['approve', choice === 'reject' ? 'what' : 'the', 'approve'],
      });
    expect(await decided(inDoubt, 'yes', interrupted, 'no')).toMatchObject({ decision: { body: { answer: { happened: false } } } });
  });

  it('leaves without a decision where the input ends', async () => {
    for (const choice of ['reject', 'edit']) expect((await decided(approval, choice, undefined)).decision).toBe('later');
    expect((await decided(inDoubt, 'yes', undefined)).decision).toBe('later');
  });

  it('leaves the choices with Ctrl-C', async () => {
    expect((await decided(approval, interrupted)).decision).toBe('later');
    expect((await decided(inDoubt, interrupted)).decision).toBe('later');
    expect((await decided({ kind: 'question' } as Interrupt, interrupted)).decision).toBe('later');
  });

  it('rejects without a word by an empty line', async () => {
    expect((await decided(approval, 'reject', '')).decision).toEqual({ body: { decision: 'reject', inputHash: 'h' } });
  });

  it('approves no edit that changes nothing', async () => {
    expect(await decided(approval, 'edit', '', 'later')).toMatchObject({ decision: 'later' });
    expect(await decided(approval, 'edit', '{"note":"x","amount":30}', 'later')).toMatchObject({
      decision: 'later',
      said: '  Nothing is changed.\n',
    });
  });

  it('edits one argument by its name', async () => {
    expect(await decided(approval, 'edit', 'amount 20', '.=1', 'amount=20')).toEqual({
      decision: { body: { decision: 'approve', inputHash: 'h', editedInput: { amount: 20, note: 'x' } } },
      asked: ['approve', 'the', 'the', 'the'],
      said: '  That is no JSON.\n  A change must be <name>=<value>, such as amount=40. It is ".=1".\n',
    });
  });
});

it.each([
  ['\u0003', interrupted],
  ['\u0004', undefined],
  ['yes\r', 'yes'],
  ['\r', ''],
])('a question at a terminal is answered by %j', async (keys, typed) => {
  const input = new PassThrough();
  const asked = askAt({ input, output: new PassThrough(), terminal: true }, 'so? ');
  input.write(keys);
  expect(await asked).toBe(typed);
});

it('a line that is to be said at Ctrl-C is said before the signal ends the process', () => {
  const written = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  const kill = jest.spyOn(process, 'kill').mockReturnValue(true);
  try {
    const before = process.listenerCount('SIGINT');
    processTerminal().ifInterrupted('not this')();
    processTerminal().ifInterrupted('The run goes on.');
    process.rawListeners('SIGINT').at(-1)?.('SIGINT');
    expect(written.mock.calls).toEqual([['\nThe run goes on.\n']]);
    expect(kill.mock.calls).toEqual([[process.pid, 'SIGINT']]);
    expect(process.listenerCount('SIGINT')).toBe(before);
  } finally {
    written.mockRestore();
    kill.mockRestore();
  }
});
