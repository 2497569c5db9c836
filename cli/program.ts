import { Argument, Command, CommanderError } from 'commander';
import { HoldfastError } from '../contract/errors';
import type { LogFormat } from '../host/logger';
import type { ReplayFlags, SaveFlags } from './commands/history-commands';
import type { CancelFlags, ResumeFlags, RunFlags } from './commands/run-commands';
import { listStatuses } from '../contract/events';
import type { FilterFlags, RunListFlags } from './commands/list-commands';
import type { AgentListFlags, JsonFlag } from './commands/read-commands';
import type { RetryFlags } from './commands/retry-commands';
import type { DoctorFlags } from './doctor/doctor';
import type { ProcessFlags } from './processes/process-settings';
import type { ServerCommandFlags } from './processes/server';
import { similarNames } from '../contract/similar-names';
import { anyOf } from '../contract/shown';
import { cancelOptions } from './cancel-options';
import { addAnswerCommands } from './answer-program';
import { addConversationCommands } from './conversation-program';
import { addPolicyCommands } from './policy-program';
import { findService } from './find-service';
import { filled, lasting, several } from './option-values';
import { reportError } from './report-error';
import type { FoundService } from './found-service';
import type { CompletedShell } from './setup/completion';
import { completionScript, shells } from './setup/completion';
import type { Terminal } from './terminal';

const configOption = 'configuration file (default: holdfast.config.ts here)';
const portOption = 'port of the service; 0 takes a free one';

type Act = (service: FoundService) => Promise<number>;

/** Runs a command line and returns the exit code: 0 done, 1 failed, 2 the run waits for somebody. Of a replay 1 is a difference, and 2 failed. */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode = 0;
  const program = programFor(terminal, (code) => (exitCode = code));
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    // For a CI, 1 is a replay that found differences.
    const failed = args[0] === 'replay' ? 2 : 1;
    if (!(error instanceof CommanderError)) {
      reportError(error, terminal, process.env, formatOf(args));
      return failed;
    }
    if (error.exitCode === 0) return 0;
    const command = commandOf(program, args);
    if (error.code !== 'commander.help')
      reportError(new HoldfastError('command-invalid', `${meantHere(reasonOf(error), command)}${optionsHint(error, command)}`), terminal);
    return failed;
  }
}

/** How a process that has not read its settings yet tells of what keeps it from that. */
function formatOf([name = '', ...flags]: readonly string[]): LogFormat {
  const given = /(?:^| )--log[ =](\S+)/.exec(flags.join(' '))?.[1] ?? process.env['HOLDFAST_LOG_FORMAT'];
  return ['dev', 'serve', 'worker', 'server'].includes(name) && given === 'json' ? 'json' : 'text';
}

function reasonOf(error: CommanderError): string {
  return error.message
    .replace(/^error: /, '')
    .replace(/\s*\n\s*/g, ' ')
    .replace(
      /^command-argument value ('.*') is invalid for argument '(.*)'\. Allowed choices are (.*)\.$/,
      '<$2> is $1. It must be one of $3.',
    );
}

function commandOf(program: Command, [name, nested]: readonly string[]): Command | undefined {
  const outer = program.commands.find((one) => one.name() === name);
  return outer?.commands.find((one) => one.name() === nested) ?? outer;
}

/** Without the proposal of options that the command does not have, such as those of the whole program. */
function meantHere(reason: string, command: Command | undefined): string {
  const [proposal, several] = / \(Did you mean (?:one of )?(--.*)\?\)$/.exec(reason) ?? [];
  if (proposal === undefined || several === undefined || command === undefined) return reason;
  const meant = several.split(', ').filter((name) => command.options.some(({ long }) => long === name));
  return reason.replace(proposal, meant.length === 0 ? '' : ` (Did you mean ${meant.join(' or ')}?)`);
}

/** The options of the command, where it was given one that it does not have, or what it lacks. */
function optionsHint({ code }: CommanderError, command: Command | undefined): string {
  if (command === undefined) return '';
  const choices = command.registeredArguments.find(({ required, argChoices }) => required && argChoices !== undefined)?.argChoices;
  if (code === 'commander.missingArgument' && choices !== undefined) return `. It is one of ${choices.join(', ')}`;
  if (code !== 'commander.unknownOption') return '';
  return `. \`${command.name()}\` takes ${command.options.map(({ long }) => long).join(', ')}`;
}

export function programFor(terminal: Terminal, exit: (code: number) => void): Command {
  const program = new Command('holdfast')
    .description('AI agents that survive: every agent run is a Temporal workflow.')
    .version(version())
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.writeText(text.trimEnd()),
      writeErr: (text) => terminal.writeError(text.trimEnd()),
      outputError: () => undefined,
    });
  addSetup(program, terminal, exit);
  addProcesses(program, terminal, exit);
  addRunCommands(program, terminal, exit);
  const policies = program.command('policy').description('Policies of the configuration.');
  addPolicyCommands(serviceCommand(policies, terminal, exit), startFilters, terminal);
  addConversationCommands(serviceCommand(program, terminal, exit), terminal);
  addReadCommands(program, terminal, exit);
  addHistoryCommands(program, terminal, exit);
  const known = program.commands.map((command) => command.name());
  program
    .command('help [command]')
    .description('display help for command')
    .action((name?: string) => {
      const asked = program.commands.find((command) => command.name() === name);
      if (name !== undefined && asked === undefined) throw unknownCommand(name, known);
      terminal.writeText((asked ?? program).helpInformation().trimEnd());
    });
  return program;
}

function unknownCommand(name: string, known: readonly string[]): HoldfastError {
  const [meant] = similarNames(name, known);
  return new HoldfastError('command-invalid', `unknown command '${name}'${meant === undefined ? '' : ` (Did you mean ${meant}?)`}`);
}

function addSetup(program: Command, terminal: Terminal, exit: (code: number) => void): void {
  program
    .command('init')
    .description('Makes a project that passes its tests.')
    .argument('[dir]', 'folder, also a new one (default: this one)', filled('[dir]'), '.')
    .action(async (folder: string) => exit((await import('./setup/init.js')).init(terminal, folder)));
  program
    .command('doctor')
    .description('Finds problems of the project and its environment, with fixes.')
    .option('-c, --config <file>', configOption)
    .option('-p, --port <port>', portOption)
    .option('--json', 'print JSON')
    .action(async (flags: DoctorFlags) => exit(await (await import('./doctor/doctor.js')).doctor(terminal, flags)));
  program
    .command('completion')
    .description('Prints the completion script of a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action((shell: CompletedShell) => terminal.writeText(completionScript(shell, program).trimEnd()));
}

function addProcesses(program: Command, terminal: Terminal, exit: (code: number) => void): void {
  const process = (name: string, description: string): Command =>
    program
      .command(name)
      .description(description)
      .option('-c, --config <file>', configOption)
      .option('--quiet', 'log only warnings and errors')
      .option('--verbose', 'also log details, including the log of Temporal')
      .option('--log <format>', 'text for people, json for machines', filled('--log'));
  // Loaded when needed: the worker and its bundler are large, and `holdfast run` needs neither.
  process('dev', 'Runs everything in one process: Temporal server, worker and service.')
    .option('-p, --port <port>', portOption)
    .option('--no-watch', 'ignore changed files')
    .action(async (flags: ProcessFlags) => exit(await (await import('./processes/dev.js')).startDev(flags, terminal)));
  process('serve', 'Runs the service alone.')
    .option('-p, --port <port>', portOption)
    .action(async (flags: ProcessFlags) => exit(await (await import('./processes/processes.js')).serve(flags, terminal)));
  process('worker', 'Runs a worker alone.').action(async (flags: ProcessFlags) =>
    exit(await (await import('./processes/processes.js')).work(flags, terminal)),
  );
  program
    .command('server')
    .description('Runs the embedded Temporal server alone.')
    .option('-p, --port <port>', 'port of the Temporal server (default: a free one)')
    .option('--ui-port <port>', 'port of the web UI (default: no web UI); 0 takes a free one')
    .option('--directory <directory>', 'directory of the data (default: HOLDFAST_DIR)', filled('--directory'))
    .action(async (flags: ServerCommandFlags) => exit(await (await import('./processes/server.js')).serveTemporal(flags, terminal)));
}

function addRunCommands(program: Command, terminal: Terminal, exit: (code: number) => void): void {
  const toService = serviceCommand(program, terminal, exit);
  const by = '--by <name>';
  toService('run <agent> [input...]', 'Starts a run and shows it until it ends or waits.', (command) =>
    command
      .option('--id <id>', 'id of the run; a used id finds its run', filled('--id'))
      .option('--model <model>', 'model, in place of the model of the agent', filled('--model'))
      .option('--options <json>', 'options of the run: tools, aliases and options of tools')
      .option('--values <json>', 'session values of the run')
      .option('--settings <json>', 'settings of the model, for example {"temperature":0}')
      .option(
        '--tag <tag>',
        'a tag of the run; repeatable',
        several((tag) => tag),
      )
      .option('--deadline <time>', 'time after which an unfinished run fails, for example 30d', lasting('--deadline'))
      .option('--json-input', 'the input is JSON: a job or a list of messages')
      .option('--detach', 'do not follow the run')
      .option(by, 'your name', filled('--by')),
  )(async ([agent, input], flags: RunFlags) => {
    const { startRun } = await import('./commands/run-commands.js');
    return (service) => startRun(service, terminal, agent as string, input as string[], flags);
  });
  addAnswerCommands(toService, terminal);
  toService('cancel <run>', 'Asks a run to stop.', (command) => cancelOptions(command, filled))(
    async ([run], { url: _url, ...flags }: CancelFlags & { url?: string }) => {
      const { cancelRun } = await import('./commands/run-commands.js');
      return (service) => cancelRun(service, terminal, run as string, flags);
    },
  );
  toService('resume <run>', 'Continues a cancelled run.', (command) =>
    command
      .option('--by <name>', 'your name', filled('--by'))
      .option('--deadline <time>', 'time after which an unfinished run fails, for example 30d', lasting('--deadline')),
  )(async ([run], { url: _url, ...flags }: ResumeFlags & { url?: string }) => {
    const { resumeRun } = await import('./commands/run-commands.js');
    return (service) => resumeRun(service, terminal, run as string, flags);
  });
  toService(
    'upgrade <run>',
    'Moves a run to the newest build, if the new code fits the run.',
    (command) => command,
  )(async ([run]) => {
    const { upgradeRun } = await import('./commands/run-commands.js');
    return (service) => upgradeRun(service, terminal, run as string);
  });
  toService('retry [runs...]', 'Continues failed runs after their last good step.', (command) =>
    startFilters(command.option('--status <status>', 'failed: all failed runs that fit the filters', filled('--status')))
      .option('--by <name>', 'your name', filled('--by'))
      .option('--deadline <time>', 'time after which an unfinished run fails, for example 30d', lasting('--deadline'))
      .option('--dry-run', 'only print what would happen'),
  )(async ([runs], { url: _url, ...flags }: RetryFlags & { url?: string }) => {
    const { retryRuns } = await import('./commands/retry-commands.js');
    return (service) => retryRuns(service, terminal, runs as string[], flags);
  });
  toService('terminate <run>', 'Ends a run at once, without its code, for example a stuck run.', (command) =>
    command.option('--reason <text>', 'reason, for the record', filled('--reason')),
  )(async ([run], flags) => {
    const { terminateRun } = await import('./commands/run-commands.js');
    return (service) => terminateRun(service, terminal, run as string, (flags as { reason?: string }).reason);
  });
}

function addReadCommands(program: Command, terminal: Terminal, exit: (code: number) => void): void {
  const toService = serviceCommand(program, terminal, exit);
  const json = (command: Command): Command => command.option('--json', 'print JSON');
  toService('list', 'Lists runs, newest first.', (command) =>
    listOptions(
      json(command)
        .option('--status <status>', anyOf(listStatuses), filled('--status'))
        .option('--parent <run>', 'isolated agents of the run', filled('--parent'))
        .option('--ids', 'print only ids'),
    ),
  )(async (_, { url: _url, ...flags }: RunListFlags & { url?: string }) => {
    const { listRuns } = await import('./commands/list-commands.js');
    return (service) => listRuns(service, terminal, flags);
  });
  toService('show <run>', 'Shows the status, steps and messages of a run.', (command) => json(command).option('--wide', 'more details'))(
    async ([run], flags: JsonFlag & { wide?: boolean }) => {
      const { showRun } = await import('./commands/read-commands.js');
      return (service) => showRun(service, terminal, run as string, flags);
    },
  );
  toService('events <run>', 'Prints the log of a run, one event a line.', (command) =>
    json(command).option('--from <offset>', 'offset of the first event', filled('--from')).option('--follow', 'follow until the run ends'),
  )(async ([run], flags: JsonFlag & { from?: string; follow?: boolean }) => {
    const { printEvents } = await import('./commands/read-commands.js');
    return (service) => printEvents(service, terminal, run as string, flags);
  });
  toService('inbox', 'Lists open decisions, one a line.', (command) => listOptions(json(command)))(
    async (_, { url: _url, ...flags }: FilterFlags & { url?: string }) => {
      const { inbox } = await import('./commands/list-commands.js');
      return (service) => inbox(service, terminal, flags);
    },
  );
  toService('agents', 'Lists the agents.', (command) => json(command).option('--names', 'print only names'))(
    async (_, flags: AgentListFlags) => {
      const { listAgents } = await import('./commands/read-commands.js');
      return (service) => listAgents(service, terminal, flags);
    },
  );
}

/** What every list filters by. */
function listOptions(command: Command): Command {
  return startFilters(command)
    .option('--may-answer <name>', 'interrupts that the name may answer', filled('--may-answer'))
    .option('--role <role>', 'a role of the name; repeatable', several(filled('--role')))
    .option('--waiting-since <time>', 'rows that have waited since the time or longer', filled('--waiting-since'))
    .option('--limit <count>', 'number of rows (default 50)', filled('--limit'))
    .option('--after <cursor>', 'continue after a page; the last line of the page has the cursor', filled('--after'))
    .option('--wide', 'more details');
}

/** What says of runs how they were started. */
function startFilters(command: Command): Command {
  return command
    .option('--agent <agent>', 'runs of the agent', filled('--agent'))
    .option('--tag <tag>', 'runs with the tag; repeatable', several(filled('--tag')))
    .option('--started-by <name>', 'runs that the name started', filled('--started-by'))
    .option('--since <time>', 'runs since the time: 2h, 3d, 2026-11-23 or 2026-11-23T08:00:00Z', filled('--since'))
    .option('--until <time>', 'runs before the time', filled('--until'));
}

/** They need the server or the agents themselves, and no service. */
function addHistoryCommands(program: Command, terminal: Terminal, exit: (code: number) => void): void {
  program
    .command('history')
    .description('Saves histories of runs.')
    .command('save <run>')
    .description('Saves the history of a run as JSON, for tests and for `replay`.')
    .option('-o, --output <file>', 'file to write (default: RUN.json)', filled('--output'))
    .option('--tenant <tenant>', 'tenant of the run', filled('--tenant'))
    .action(async (run: string, flags: SaveFlags) =>
      exit(await (await import('./commands/history-commands.js')).saveHistory(terminal, run, flags)),
    );
  program
    .command('replay <files...>')
    .description('Replays saved histories under the current agents, and prints differences.')
    .option('-c, --config <file>', configOption)
    .option('--changes <which>', 'differences that count: commands, which stop open runs (default), or also requests', filled('--changes'))
    .option('--json', 'print JSON')
    .action(async (files: readonly string[], flags: ReplayFlags) =>
      exit(await (await import('./commands/history-commands.js')).replayFiles(terminal, files, flags)),
    );
}

/** A command that talks to a service, wherever that is. */
function serviceCommand(program: Command, terminal: Terminal, exit: (code: number) => void) {
  return (usage: string, description: string, options: (command: Command) => Command) =>
    <Flags>(prepare: (args: readonly unknown[], flags: Flags) => Promise<Act>): void => {
      const command = options(program.command(usage).description(description)).option('--url <url>', 'address of the service');
      command.action(async (...received: unknown[]) => {
        const flags = received.at(-2) as Flags & { url?: string; ids?: true; names?: true };
        const act = await prepare(received.slice(0, -2), flags);
        const say = (text: string): void => terminal.writeError(terminal.paint.dim(text));
        // Whoever presses Tab waits for no service.
        const isAtOnce = flags.ids === true || flags.names === true;
        exit(await act(await findService(flags.url, process.env, { ms: isAtOnce ? 0 : 5_000, isAtOnce, say })));
      });
    };
}

function version(): string {
  // The package is loaded by its own name, so that it is found from sources and from dist alike.
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  return (require('holdfast/package.json') as { version: string }).version;
}
