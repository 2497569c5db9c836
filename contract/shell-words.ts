/** What every shell takes for one word as it is. */
const plain = /^[A-Za-z0-9_./-][A-Za-z0-9_./:@%+,~-]*$/;

/** A text as one word of a command line that somebody pastes into a shell. */
export function shellWord(text: string): string {
  return plain.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A command of ours as it can be pasted. */
export function commandLine(...words: readonly string[]): string {
  return ['npx', 'holdfast', ...words.map(shellWord)].join(' ');
}

/** What `holdfast dev` proposes. A text that means the same between double quotes reads best there. */
export function runLine(agent: string, input: unknown, ...flags: readonly string[]): string {
  if (typeof input !== 'string') return commandLine('run', agent, '--json-input', JSON.stringify(input), ...flags);
  if (input.startsWith('-')) return commandLine('run', agent, ...flags, '--', input);
  const word = /["$`\\!\n]/.test(input) ? shellWord(input) : `"${input}"`;
  return [commandLine('run', agent), word, ...flags.map(shellWord)].join(' ');
}
