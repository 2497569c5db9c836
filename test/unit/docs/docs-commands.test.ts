import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { programFor } from '../../../cli/program';
import type { Terminal } from '../../../cli/terminal';

const page = readFileSync(join(__dirname, '..', '..', '..', 'docs', 'reference', 'commands.md'), 'utf8');
const { commands } = programFor({} as Terminal, () => undefined);
const nameOf = (command: Command): string => [...(command.parent?.parent ? [command.parent.name()] : []), command.name()].join(' ');
const documented = commands
  .filter((command) => command.name() !== 'help')
  .flatMap((command) => (command.commands.length === 0 ? [command] : command.commands.filter((one) => one.name() !== 'help')));

const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) =>
    line
      .split(' | ')
      .map((cell) => cell.replace(/^\| /, '').replace(/\s*\|?\s*$/, ''))
      .map((cell) => cell.trim()),
  );

describe('docs/reference/commands.md', () => {
  it('has each command with its arguments, and what it does', () => {
    const told = rows.filter(([name]) => name?.startsWith('`-') === false).map(([name, what]) => [name, what]);
    const usages = documented.map((command) => {
      const given = command.registeredArguments.map((one) => {
        const name = `${one.name()}${one.variadic ? '...' : ''}`;
        return one.required ? `<${name}>` : `[${name}]`;
      });
      return [`\`${[nameOf(command), ...given].join(' ')}\``, command.description()];
    });
    expect(told).toEqual(usages);
  });

  it('has each option, what it is, and which commands take it', () => {
    const takers = new Map<string, string[]>();
    for (const command of documented)
      for (const { flags, description } of command.options) {
        const key = JSON.stringify([`\`${flags}\``, description]);
        takers.set(key, [...(takers.get(key) ?? []), `\`${nameOf(command)}\``]);
      }
    const all = documented.filter((command) => command.options.some(({ long }) => long === '--url')).length;
    const expected = [...takers].map(([key, names]) => [
      ...(JSON.parse(key) as string[]),
      names.length === all ? 'all that talk to a service' : names.join(', '),
    ]);
    expect(rows.filter(([name]) => name?.startsWith('`-') === true)).toEqual(expected);
  });
});
