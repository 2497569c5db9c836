import { Argument, Command, CommanderError } from 'commander';
import { HoldfastError } from '../contract/errors';
import type { LogFormat } from '../host/logger';
import type { ReplayFlags, SaveFlags } from './commands/history-commands';
import type { CancelFlags, RunFlags } from './commands/run-commands';
import { listStatuses } from '../contract/events';
import type { FilterFlags, RunListFlags } from './commands/list-commands';
import type { ApplyFlags } from './commands/policy-commands';
import type { AgentListFlags, EventFlags, WideFlags } from './commands/read-commands';
import type { RetryFlags } from './commands/retry-commands';
import type { DoctorFlags } from './doctor/doctor';
import type { ProcessFlags } from './processes/process-settings';
import type { ServerCommandFlags } from './processes/server';
import { similarNames } from '../contract/similar-names';
import { anyOf } from '../contract/shown';
import { addAccessCommands } from './access-program';
import { addAnswerCommands } from './answer-program';
import { addBatchCommands } from './batch-program';
import { addConversationCommands } from './conversation-program';
import { addMcpCommands } from './mcp-program';
import { addScheduleCommands } from './schedule-program';
import { by, config, deadline, filled, json, lasting, role, several, startFilters } from './option-values';
import type { JsonFlag } from './output';
import { reportError } from './report-error';
import type { GoOnRequest } from '../client/http/index';
import { serviceCommands, type ToService } from './service-command';
import { completionScript, shells, type CompletedShell } from './setup/completion';
import { ownManifest } from './setup/own-package';
import type { Terminal } from './terminal';

const port = ['-p, --port <port>', 'port of the service; 0 takes a free one'] as const;
const reason = ['--reason <text>', 'reason, for the record', filled('--reason')] as const;
const dryRun = ['--dry-run', 'only print what would happen'] as const;
const wide = ['--wide', 'more details'] as const;

type OneRun = readonly [run: string];

/** Exit codes: 0 done, 1 failed, 2 the run waits for a person. For `replay`: 1 a difference, 2 failed. */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode = 0;
  const program = programFor(terminal, (code) => (exitCode = code));
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
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

/** For a process that fails before its settings are read. */
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

/** Proposals may be options of other commands. */
function meantHere(reason: string, command: Command | undefined): string {
  const [proposal, several] = / \(Did you mean (?:one of )?(--.*)\?\)$/.exec(reason) ?? [];
  if (proposal === undefined || several === undefined || command === undefined) return reason;
  const meant = several.split(', ').filter((name) => command.options.some(({ long }) => long === name));
  return reason.replace(proposal, meant.length === 0 ? '' : ` (Did you mean ${meant.join(' or ')}?)`);
}

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
    .version(ownManifest().version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.writeText(text.trimEnd()),
      writeErr: (text) => terminal.writeError(text.trimEnd()),
      outputError: () => undefined,
    });
  addSetup(program, terminal, exit);
  addProcesses(program, terminal, exit);
  const toService = serviceCommands(program, terminal, exit);
  addRunCommands(toService, terminal);
  const policies = program.command('policy').description('Policies of the configuration.');
  addPolicyCommands(serviceCommands(policies, terminal, exit), terminal);
  const triggers = program.command('triggers').description('Webhooks that start runs.');
  addTriggerCommands(serviceCommands(triggers, terminal, exit), terminal);
  const notices = program.command('notices').description('Notices about runs that no receiver has taken.');
  addNoticeCommands(serviceCommands(notices, terminal, exit), terminal);
  addConversationCommands(toService, terminal);
  addBatchCommands(program, toService, terminal, exit);
  addScheduleCommands(program, terminal, exit);
  addReadCommands(toService, terminal);
  addHistoryCommands(program, terminal, exit);
  addMcpCommands(program, terminal, exit);
  addAccessCommands(program, terminal, exit);
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
    .option(...config)
    .option(...port)
    .option(...json)
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
      .option(...config)
      .option('--quiet', 'log only warnings and errors')
      .option('--verbose', 'also log details, including the log of Temporal')
      .option('--log <format>', 'text for people, json for machines', filled('--log'));
  // Imports are late: the worker and its bundler are large.
  process('dev', 'Runs everything in one process: Temporal server, worker and service.')
    .option(...port)
    .option('--no-watch', 'ignore changed files')
    .action(async (flags: ProcessFlags) => exit(await (await import('./processes/dev.js')).startDev(flags, terminal)));
  process('serve', 'Runs the service alone.')
    .option(...port)
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

function addRunCommands(toService: ToService, terminal: Terminal): void {
  const load = () => import('./commands/run-commands.js');
  toService('run <agent> [input...]', 'Starts a run and shows it until it ends or waits.', (command) =>
    command
      .option('--id <id>', 'id of the run; a used id finds its run', filled('--id'))
      .option('--model <model>', 'model, in place of the model of the agent', filled('--model'))
      .option('--options <json>', 'options of the run: tools, aliases and options of tools')
      .option('--values <json>', 'session values of the run')
      .option('--settings <json>', 'settings of the model, for example {"temperature":0}')
      .option('--tag <tag>', 'a tag of the run; repeatable', several())
      .option(...deadline)
      .option('--json-input', 'the input is JSON: a job or a list of messages')
      .option('--detach', 'do not follow the run')
      .option(...by),
  )(async (service, [agent, input]: readonly [string, readonly string[]], flags: RunFlags) =>
    (await load()).startRun(service, terminal, { agent, words: input, ...flags }),
  );
  addAnswerCommands(toService, terminal);
  toService('cancel <run>', 'Asks a run to stop.', (command) =>
    command
      .option('--after-model', 'stop when the model has asked for tools, before the tools run')
      .option('--after-tools', 'stop when the tools of an answer have run')
      .option('--within <time>', 'time after which the run stops at once, for example 30s', lasting('--within'))
      .option('--only-here', 'let agents below the first agent end first')
      .option(...reason)
      .option(...by),
  )(async (service, [run]: OneRun, flags: CancelFlags) => (await load()).cancelRun(service, terminal, run, flags));
  toService('resume <run>', 'Continues a cancelled run.', (command) => command.option(...by).option(...deadline))(
    async (service, [run]: OneRun, flags: GoOnRequest) => (await load()).resumeRun(service, terminal, run, flags),
  );
  toService(
    'upgrade <run>',
    'Moves a run to the newest build, if the new code fits the run.',
  )(async (service, [run]: OneRun) => (await load()).upgradeRun(service, terminal, run));
  toService('retry [runs...]', 'Continues failed runs after their last good step.', (command) =>
    startFilters(command.option('--status <status>', 'failed: all failed runs that fit the filters', filled('--status')))
      .option(...by)
      .option(...deadline)
      .option(...dryRun),
  )(async (service, [runs]: readonly [readonly string[]], flags: RetryFlags) =>
    (await import('./commands/retry-commands.js')).retryRuns(service, terminal, runs, flags),
  );
  toService('terminate <run>', 'Ends a run at once, without its code, for example a stuck run.', (command) => command.option(...reason))(
    async (service, [run]: OneRun, flags: { reason?: string }) => (await load()).terminateRun(service, terminal, run, flags),
  );
}

function addPolicyCommands(toService: ToService, terminal: Terminal): void {
  toService('apply <policy>', 'Asks again about waiting calls for which a changed policy asks more.', (command) =>
    startFilters(command.requiredOption('--to <runs>', 'waiting: runs that wait because of the policy', filled('--to')))
      .option(...by)
      .option(...dryRun)
      .option(...json),
  )(async (service, [policy]: readonly [string], flags: ApplyFlags) =>
    (await import('./commands/policy-commands.js')).applyPolicy(service, terminal, policy, flags),
  );
}

function addTriggerCommands(toService: ToService, terminal: Terminal): void {
  const load = () => import('./commands/trigger-commands.js');
  toService('list', 'Lists the triggers of the configuration.', (command) => command.option(...json))(async (service, _, flags: JsonFlag) =>
    (await load()).listTriggers(service, terminal, flags),
  );
  toService('deliveries <trigger>', 'Lists deliveries that started no run, newest first.', (command) => command.option(...json))(
    async (service, [trigger]: readonly [string], flags: JsonFlag) => (await load()).listDeliveries(service, terminal, trigger, flags),
  );
  toService(
    'replay <trigger> <delivery>',
    'Makes a run of a kept delivery, with the configuration of today.',
  )(async (service, [trigger, id]: readonly [string, string]) => (await load()).replayDelivery(service, terminal, trigger, id));
}

function addNoticeCommands(toService: ToService, terminal: Terminal): void {
  const load = () => import('./commands/notice-commands.js');
  toService('list', 'Lists notices that no receiver has taken.', (command) => command.option(...json))(
    async (service, _, flags: JsonFlag) => (await load()).listNotices(service, terminal, flags),
  );
  toService(
    'send <notice>',
    'Sends an undelivered notice now.',
  )(async (service, [id]: readonly [string]) => (await load()).sendNotice(service, terminal, id));
  toService(
    'drop <notice>',
    'Drops an undelivered notice.',
  )(async (service, [id]: readonly [string]) => (await load()).dropNotice(service, terminal, id));
}

function addReadCommands(toService: ToService, terminal: Terminal): void {
  const lists = () => import('./commands/list-commands.js');
  const reads = () => import('./commands/read-commands.js');
  toService('list', 'Lists runs, newest first.', (command) =>
    listOptions(
      command
        .option(...json)
        .option('--status <status>', anyOf(listStatuses), filled('--status'))
        .option('--parent <run>', 'isolated agents of the run', filled('--parent'))
        .option('--ids', 'print only ids'),
    ),
  )(async (service, _, flags: RunListFlags) => (await lists()).listRuns(service, terminal, flags));
  toService('show <run>', 'Shows the status, steps and messages of a run.', (command) => command.option(...json).option(...wide))(
    async (service, [run]: OneRun, flags: WideFlags) => (await reads()).showRun(service, terminal, run, flags),
  );
  toService('events <run>', 'Prints the log of a run, one event a line.', (command) =>
    command
      .option(...json)
      .option('--from <offset>', 'offset of the first event', filled('--from'))
      .option('--follow', 'follow until the run ends'),
  )(async (service, [run]: OneRun, flags: EventFlags) => (await reads()).printEvents(service, terminal, run, flags));
  toService('inbox', 'Lists open decisions, one a line.', (command) => listOptions(command.option(...json)))(
    async (service, _, flags: FilterFlags) => (await lists()).inbox(service, terminal, flags),
  );
  toService('agents', 'Lists the agents.', (command) => command.option(...json).option('--names', 'print only names'))(
    async (service, _, flags: AgentListFlags) => (await reads()).listAgents(service, terminal, flags),
  );
}

function listOptions(command: Command): Command {
  return startFilters(command)
    .option('--may-answer <name>', 'interrupts that the name may answer', filled('--may-answer'))
    .option(...role)
    .option('--waiting-since <time>', 'rows that have waited since the time or longer', filled('--waiting-since'))
    .option('--limit <count>', 'number of rows (default 50)', filled('--limit'))
    .option('--after <cursor>', 'continue after a page; the last line of the page has the cursor', filled('--after'))
    .option(...wide);
}

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
    .option(...config)
    .option('--changes <which>', 'differences that count: commands, which stop open runs (default), or also requests', filled('--changes'))
    .option(...json)
    .action(async (files: readonly string[], flags: ReplayFlags) =>
      exit(await (await import('./commands/history-commands.js')).replayFiles(terminal, files, flags)),
    );
}
