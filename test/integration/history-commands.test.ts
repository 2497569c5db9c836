import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { recordHistory } from 'holdfast/testing';
import { replayFiles } from '../../cli/commands/history-commands';
import { runCommandLine } from '../../cli/program';
import { recordedTerminal } from '../support/recorded-terminal';
import { readHistories } from '../../host/history/history-files';

describe('holdfast replay', () => {
  it.each([
    ['no file', ['replay'], /missing required argument 'files'/],
    ['an option that it does not have', ['replay', 'x.json', '--odd'], /`replay` takes --config, --changes, --json/],
  ])('given %s, ends with 2: 1 is for differences', async (_, args, message) => {
    const terminal = recordedTerminal({ live: false });
    expect(await runCommandLine(args, terminal)).toBe(2);
    expect(terminal.written()).toMatch(message);
  });
});

describe('a replay on the command line', () => {
  it.each([
    ['other changes than there are', { changes: 'odd' }, /--changes is 'odd'\. It must be commands or requests\./],
    ['a configuration that is not there', { config: '/nowhere/holdfast.config.ts' }, /error config-not-found:/],
  ])('given %s, ends with 2', async (_, flags, message) => {
    const terminal = recordedTerminal({ live: false });
    expect(await replayFiles(terminal, ['x.json'], flags)).toBe(2);
    expect(terminal.written()).toMatch(message);
  });
});

describe('a replay of saved histories on the command line', () => {
  const root = join(__dirname, '..', '..');
  const histories = join(root, 'test', 'replay', 'histories', 'examples');
  const history = join(histories, readdirSync(histories).find((name) => name.endsWith('-support-waiting.json')) ?? '');
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-replay-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const replayed = async (agents: string, flags: object = {}): Promise<{ readonly code: number; readonly said: string }> => {
    const config = join(folder, 'holdfast.config.cjs');
    const tool = `{ description: 'Does nothing.', inputSchema: { type: 'object' }, execute: () => null }`;
    const text = `module.exports = { agents: ${JSON.stringify(join(root, agents))}, tools: { lookupOrder: ${tool}, refund: ${tool} } };`;
    writeFileSync(config, text);
    const terminal = recordedTerminal({ live: false });
    return { code: await replayFiles(terminal, [history], { config, ...flags }), said: terminal.written() };
  };

  it('ends with 1 when they would go another way today, and says where', async () => {
    const { code, said } = await replayed('test/replay/fixtures/changed-agents.ts');
    expect(code).toBe(1);
    expect(said).toContain('frame-changed');
    expect(said).toContain(
      'The history has the approval support/t2/refund.0/approval here. The code has the tool call support/t2/refund.0 instead.',
    );
  });

  it('ends with 0 when they would do the same, also as JSON', async () => {
    const { code, said } = await replayed('examples/support/agents.ts', { json: true });
    expect(code).toBe(0);
    expect(JSON.parse(said)).toEqual([{ id: basename(history, '.json'), differences: [] }]);
  });
});

describe('holdfast history save', () => {
  it('names its own options when it is given another one', async () => {
    const terminal = recordedTerminal({ live: false });
    expect(await runCommandLine(['history', 'save', 'r', '--odd'], terminal)).toBe(1);
    expect(terminal.written()).toContain('`save` takes --output, --tenant');
  });
});

describe('recordHistory', () => {
  it.each([
    ['nothing', undefined, 'the options must be an object'],
    ['no id', { file: 'x.json' }, 'id must be the id of a run. It is missing.'],
    ['an id that no run has', { id: 'a b', file: 'x.json' }, 'id must be the id of a run. It is "a b".'],
    ['no file', { id: 'r' }, 'file must be a string that is not blank. It is missing.'],
  ])('given %s, says what it takes', async (_, options, message) => {
    await expect(recordHistory(options as never)).rejects.toMatchObject({
      code: 'request-invalid',
      message: expect.stringContaining(message) as string,
    });
  });
});

it.each([
  ['no JSON', '{'],
  ['other JSON', '[]'],
  ['nothing at all', '{"events":[]}'],
])('a file that holds %s is not a history, and the error names it', async (_, text) => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-history-'));
  try {
    writeFileSync(join(folder, 'odd.json'), text);
    await expect(readHistories(folder)).rejects.toMatchObject({
      code: 'request-invalid',
      message: expect.stringMatching(/odd\.json is not a history/) as string,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
