import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { programFor } from '../../../cli/program';
import type { CompletedShell } from '../../../cli/setup/completion';
import { completionScript, shells } from '../../../cli/setup/completion';
import type { Terminal } from '../../../cli/terminal';

const program = programFor({} as Terminal, () => undefined);
const leaves = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(leaves)];
const all = leaves(program).slice(1);
const folder = mkdtempSync(join(tmpdir(), 'holdfast-completion-'));
beforeAll(() => {
  writeFileSync(join(folder, 'history.json'), '{}');
  writeFileSync(join(folder, 'holdfast'), '#!/bin/sh\necho "$@" > asked\nprintf "ticket-1\nticket-2\nnight-1\n"\n');
  chmodSync(join(folder, 'holdfast'), 0o755);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const scriptFile = (shell: CompletedShell): string => {
  const file = join(folder, `holdfast.${shell}`);
  writeFileSync(file, completionScript(shell, program));
  return file;
};

function offered(...words: readonly string[]): readonly string[] {
  const script = `source "$0"; COMP_WORDS=(holdfast "$@"); COMP_CWORD=$#; _holdfast; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` };
  const said = execFileSync('bash', ['--norc', '-c', script, scriptFile('bash'), ...words], { cwd: folder, env, encoding: 'utf8' });
  return said.split('\n').filter((line) => line !== '');
}

describe('completion in bash', () => {
  it('offers all commands, and those that begin as what is typed', () => {
    expect(offered('')).toEqual([...program.commands.map((command) => command.name()), '--version', '--help']);
    expect(offered('re')).toEqual(['reject', 'resume', 'retry', 'rename', 'replay']);
  });

  it.each(
    all.filter((command) => command.parent === program && command.name() !== 'help').map((command) => [command.name(), command] as const),
  )('offers each option of %s', (name, command) => {
    expect([...offered(name, '--')].sort()).toEqual([...command.options.map(({ long }) => long), '--help'].sort());
  });

  it('finds a command of a command, also after options', () => {
    expect(offered('history', '')).toEqual(['save', '--help']);
    expect(offered('history', 'save', '--')).toEqual(['--output', '--tenant', '--help']);
    expect(offered('list', '--wide', '--st')).toEqual(['--status', '--started-by']);
  });

  it('offers files where an option or an argument takes one, and nothing for other values', () => {
    expect(offered('dev', '--config', 'hist')).toEqual(['history.json']);
    expect(offered('dev', '-c', 'hist')).toEqual(['history.json']);
    expect(offered('replay', 'hist')).toEqual(['history.json']);
    expect(offered('dev', '--port', '')).toEqual([]);
    expect(offered('show', 'hist')).toEqual([]);
  });

  it.each([
    [['show', 'tick'], ['ticket-1', 'ticket-2'], 'list --ids --limit 200'],
    [['history', 'save', 'n'], ['night-1'], 'list --ids --limit 200'],
    [['approve', 'ticket-2'], ['ticket-2'], 'list --ids --limit 200 --status waiting'],
    [['withdraw', 'n'], ['night-1'], 'list --ids --limit 200'],
    [['retry', '--dry-run', 'night'], ['night-1'], 'list --ids --limit 200 --status failed'],
    [['run', 'tick'], ['ticket-1', 'ticket-2'], 'agents --names'],
    [['chat', 'n'], ['night-1'], 'agents --names'],
  ])('offers runs and agents that it asks for, such as have the status: %j', (words, ids, asked) => {
    expect(offered(...words)).toEqual(ids);
    expect(readFileSync(join(folder, 'asked'), 'utf8').trim()).toBe(asked);
  });

  it('asks for no runs where an option is typed, or the value of one', () => {
    rmSync(join(folder, 'asked'), { force: true });
    expect(offered('show', '--wi')).toEqual(['--wide']);
    expect(offered('approve', '--edit', 'ticket')).toEqual([]);
    expect(existsSync(join(folder, 'asked'))).toBe(false);
  });

  it('offers the values of an argument that has only some', () => {
    expect(offered('completion', '')).toEqual([...shells, '--help']);
  });

  it('takes a word that names a command for one only where a command can stand', () => {
    expect(offered('run', 'dev', '--po')).toEqual([]);
  });
});

describe.each(shells)('the completion script for %s', (shell) => {
  const script = completionScript(shell, program);

  it('has every command and every option', () => {
    for (const command of all.filter((one) => one.name() !== 'help')) {
      expect(script).toContain(command.name());
      for (const { long } of command.options) expect(script).toContain(shell === 'fish' ? `-l ${long?.slice(2)}` : (long ?? ''));
    }
  });

  const isHere = spawnSync(shell, ['--version']).error === undefined;
  (isHere ? it : it.skip)('is one that the shell can read', () => {
    expect(spawnSync(shell, ['-n', scriptFile(shell)], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  });
});
