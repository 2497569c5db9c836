import type { Argument, Command, Option } from 'commander';

interface Completed {
  readonly path: string;
  readonly commands: readonly Command[];
  readonly options: readonly Option[];
  readonly argument: Argument | undefined;
}

export const shells = ['bash', 'zsh', 'fish'] as const;
export type CompletedShell = (typeof shells)[number];

/** Run ids and agent names come from the service. */
export function completionScript(shell: CompletedShell, program: Command): string {
  const all = completedOf(program);
  return { bash: forBash, zsh: forZsh, fish: forFish }[shell](all);
}

function completedOf(command: Command, path = ''): readonly Completed[] {
  const commands = command.commands.filter((one) => path === '' || one.name() !== 'help');
  return [
    { path, commands, options: command.createHelp().visibleOptions(command), argument: command.registeredArguments[0] },
    ...commands.flatMap((one) => completedOf(one, path === '' ? one.name() : `${path} ${one.name()}`)),
  ];
}

const namesOf = ({ short, long }: Option): readonly string[] => [short, long].filter((name) => name !== undefined);
const takesValue = (option: Option): boolean => option.required || option.optional;
/** Matches `<file>`, `<files...>`, `[dir]` and `<directory>`. */
const isPath = (text: string): boolean => /[<[](?:file|dir)/.test(text);
const argumentIsPath = (argument: Argument | undefined): boolean => argument !== undefined && isPath(`<${argument.name()}`);
const statusOfRuns: Readonly<Record<string, string>> = { approve: 'waiting', reject: 'waiting', answer: 'waiting', retry: 'failed' };
/** Shells evaluate the line, so that aliases work. */
const listerOf = ({ path, argument }: Completed): string | undefined => {
  const name = argument?.name() ?? '';
  if (name === 'agent') return 'holdfast agents --names 2>/dev/null';
  const status = statusOfRuns[path];
  if (!/^(runs?|conversation)$/.test(name)) return undefined;
  return `holdfast list --ids --limit 200${status === undefined ? '' : ` --status ${status}`} 2>/dev/null`;
};
const withLister = (all: readonly Completed[]): readonly (readonly [path: string, lister: string])[] =>
  all.flatMap((one) => {
    const lister = listerOf(one);
    return lister === undefined ? [] : [[one.path, lister] as const];
  });
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function branches(all: readonly Completed[], words: (one: Completed) => readonly string[], then: string, indent: string): string {
  const patterns = all.flatMap(words);
  return patterns.length === 0 ? '' : `${indent}${patterns.map((pattern) => `"${pattern}"`).join('|')}) ${then} ;;\n`;
}

const optionsWith = (one: Completed, fits: (option: Option) => boolean): readonly string[] =>
  one.options.filter(fits).flatMap((option) => namesOf(option).map((name) => `${one.path} ${name}`));
const withPath = (one: Completed): readonly string[] => optionsWith(one, (option) => takesValue(option) && isPath(option.flags));
const withOtherValue = (one: Completed): readonly string[] => optionsWith(one, (option) => takesValue(option) && !isPath(option.flags));
const choicesOf = ({ argument, commands }: Completed): readonly string[] => [
  ...commands.map((one) => one.name()),
  ...(argument?.argChoices ?? []),
];

function findCommand(all: readonly Completed[], words: string): string {
  const paths = all.filter(({ path }) => path !== '').map(({ path }) => `"${path.includes(' ') ? '' : ' '}${path}"`);
  return `  for word in ${words}; do
    case "$command $word" in
      ${paths.join('|')}) command="\${command:+$command }$word" ;;
    esac
  done
`;
}

/** Only for files: a folder `worker` would turn the command into `worker/`. */
const bashFiles = 'compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -f -- "$current"))';

/** `case` branches that list runs or agents. A word that begins with `-` is an option and needs no process. */
function listed(all: readonly Completed[], add: (words: string) => string): string {
  return withLister(all)
    .map(([path, lister]) => `    "${path}") [[ $current == -* ]] || ${add(`$(eval ${quote(lister)})`)} ;;\n`)
    .join('');
}

function forBash(all: readonly Completed[]): string {
  const lines = all.map(
    (one) => `    ${quote(one.path)}) words=${quote([...choicesOf(one), ...one.options.flatMap(({ long }) => long ?? [])].join(' '))} ;;`,
  );
  return `# Completion of holdfast for bash. In ~/.bashrc: source <(npx holdfast completion bash)
_holdfast() {
  COMPREPLY=()
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command= word words=
${findCommand(all, '"${COMP_WORDS[@]:1:COMP_CWORD-1}"')}  case "$command $previous" in
${branches(all, withPath, `${bashFiles}; return`, '    ')}${branches(all, withOtherValue, 'COMPREPLY=(); return', '    ')}  esac
  case "$command" in
${lines.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  case "$command" in
${branches(all, (one) => (argumentIsPath(one.argument) ? [one.path] : []), bashFiles, '    ')}${listed(all, (words) => `COMPREPLY+=($(compgen -W "${words}" -- "$current"))`)}  esac
}
complete -F _holdfast holdfast
`;
}

function forZsh(all: readonly Completed[]): string {
  const described = (name: string, description: string): string => quote(`${name.replaceAll(':', '\\:')}:${description}`);
  const lines = all.map((one) => {
    const words = [
      ...one.commands.map((command) => described(command.name(), command.description())),
      ...(one.argument?.argChoices ?? []).map((choice) => described(choice, one.argument?.description ?? '')),
      ...one.options.map(({ long, short, description }) => described(long ?? short ?? '', description)),
    ];
    return `    ${quote(one.path)}) words_of_command=(${words.join(' ')}) ;;`;
  });
  return `#compdef holdfast
# Completion of holdfast for zsh. In ~/.zshrc, after compinit: source <(npx holdfast completion zsh)
_holdfast() {
  local current="\${words[CURRENT]}" previous="\${words[CURRENT-1]}" command= word
  local -a words_of_command
${findCommand(all, '"${(@)words[2,CURRENT-1]}"')}  case "$command $previous" in
${branches(all, withPath, '_files; return', '    ')}${branches(all, withOtherValue, 'return', '    ')}  esac
  case "$command" in
${lines.join('\n')}
  esac
  _describe 'holdfast' words_of_command
  case "$command" in
${branches(all, (one) => (argumentIsPath(one.argument) ? [one.path] : []), '_files', '    ')}${listed(all, (words) => `compadd -- \${(f)"${words}"}`)}  esac
}
compdef _holdfast holdfast
`;
}

function forFish(all: readonly Completed[]): string {
  const at = (path: string): string => {
    const [first, second] = path.split(' ');
    if (path === '') return '__fish_use_subcommand';
    return second === undefined
      ? `__fish_seen_subcommand_from ${first}`
      : `__fish_seen_subcommand_from ${first}; and __fish_seen_subcommand_from ${second}`;
  };
  const line = (path: string, rest: string): string => `complete -c holdfast -n ${quote(at(path))} ${rest}`;
  const lines = all.flatMap((one) => [
    ...one.commands.map((command) => line(one.path, `-a ${command.name()} -d ${quote(command.description())}`)),
    ...(one.argument?.argChoices ?? []).map((choice) => line(one.path, `-a ${choice}`)),
    ...one.options.map((option) => {
      const names = namesOf(option).map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
      const value = takesValue(option) ? (isPath(option.flags) ? ' -r -F' : ' -x') : '';
      return line(one.path, `${names.join(' ')}${value} -d ${quote(option.description)}`);
    }),
    ...(argumentIsPath(one.argument) ? [line(one.path, '-F')] : []),
    ...withLister([one]).map(([path, lister]) => line(path, `-a ${quote(`(${lister})`)}`)),
  ]);
  return `# Completion of holdfast for fish. In ~/.config/fish/config.fish: npx holdfast completion fish | source
complete -c holdfast -f
${lines.join('\n')}
`;
}
