const plain = /^[A-Za-z0-9_./-][A-Za-z0-9_./:@%+,~-]*$/;

export function shellWord(text: string): string {
  return plain.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

export function commandLine(...words: readonly string[]): string {
  return ['npx', 'holdfast', ...words.map(shellWord)].join(' ');
}

/** The command that `holdfast dev` proposes. Double quotes read best where they mean the same. */
export function runLine(agent: string, input: unknown, ...flags: readonly string[]): string {
  if (typeof input !== 'string') return commandLine('run', agent, '--json-input', JSON.stringify(input), ...flags);
  if (input.startsWith('-')) return commandLine('run', agent, ...flags, '--', input);
  const word = /["$`\\!\n]/.test(input) ? shellWord(input) : `"${input}"`;
  return [commandLine('run', agent), word, ...flags.map(shellWord)].join(' ');
}
