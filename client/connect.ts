import type { Forms } from '../contract/check';
import { checkOptions, filled, flag, form, having, isFilled, isRecord, record } from '../contract/check';
import { withoutCredentials } from '../contract/credentials';
import { defined } from '../contract/defined';
import type { WorkflowClient } from '@temporalio/client';
import { Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type { DeltaSource } from '../contract/deltas';
import { isAnyRunId } from '../contract/record/child-runs';
import { HoldfastError, messageOf } from '../contract/errors';
import { defaultTaskQueue, defaultTenant, isRunId, names, workflowIdOf } from '../contract/names';
import { shown } from '../contract/shown';
import type { TemporalSettings } from '../host/connection';
import { readConfiguration } from '../host/configuration';
import { processBus } from '../host/event-bus';
import { unanswered } from '../host/unanswered';
import { addressOf } from '../host/server-address';
import type { ServerConnection } from './given-client';
import type { AgentName, InputOfAgent, OutputOfAgent } from './agent-types';
import { connectionOf, workflowsOf } from './given-client';
import { ignoredOptions, readBegun } from './ignored-options';
import type { InterruptListOptions, ListOptions, ListTime } from './listing/list-options';
import type { InterruptPage, NoWorker, PolicyPage, RunPage } from '../contract/service';
import { listTime, timeOf } from './listing/list-options';
import { RunCounter } from './listing/run-counts';
import { RunLists } from './listing/run-lists';
import { listBuilds, noWorkerOf } from './builds';
import { KeptAnswer } from './kept-answer';
import type { DryRun } from './dry-runs';
import { dryRun } from './dry-runs';
import { answered, withCode } from './lost-server';
import type { ApplyPolicyOptions } from './policies';
import { applyPolicy } from './policies';
import { Run } from './run';
import { RunReader } from './reading/run-reader';
import type { StartOptions } from './start-input';
import { startInputOf } from './start-input';
import type { StartOperation } from './start-operation';
import { hashOfStart, startOperation } from './start-operation';
import { Conversation } from './conversation';
import { RunChannel } from './conversation-channel';
import { SendLines } from './send-line';
import { TaskPushes } from './task-pushes';
import type { ConversationOptions } from './conversation-options';
import { conversationStartOf } from './conversation-options';
import type { BuildList, BulkAction, RunCounts, UsageReport } from '../contract/service-facts';
import { DeploymentReader } from '../host/deployment';
import type { GoOnOptions } from './retry';
import type { UsageOptions } from './usage-report';
import { UsageReports } from './usage-report';
import { openConnection, withDefaults } from './which-server';

export interface ConnectOptions {
  /** host:port of the server. Default: Temporal's own environment variables and profile, else the server that `holdfast dev` runs in this directory, else localhost:7233. */
  readonly address?: string;
  readonly server?: TemporalSettings;
  /** A Temporal client that there is already. Its connection, namespace, data converter and interceptors are used, and `close` leaves it open. */
  readonly client?: Client;
  readonly tenant?: string;
  readonly taskQueue?: string;
  /** With external storage, the same as the worker's. */
  readonly dataConverter?: DataConverter;
  /** Whether what this client writes is compressed. Compressed data is always read. Default: HOLDFAST_COMPRESS, else on with the embedded server only. */
  readonly compress?: boolean;
  /** Where tokens come from while calls run. Default: from the workers of this process. */
  readonly deltas?: DeltaSource;
}

/** Connects to the server that keeps the runs. `Module` is the type of the agents module, for names and inputs. */
export async function connect<Module = never>(options: ConnectOptions = {}): Promise<HoldfastClient<Module>> {
  checkConnectOptions(options);
  if (options.client !== undefined) {
    const { tenant, taskQueue, compress } = readConfiguration();
    return new HoldfastClient(connectionOf(options.client, options), { tenant, taskQueue, ...defined({ compress }), ...options });
  }
  const known = await withDefaults(options);
  const connection = await openConnection(known);
  return new HoldfastClient(connection, known);
}

const connectForms: Forms<ConnectOptions> = {
  address: filled,
  server: form(
    (value) => isRecord(value) && isFilled(value['address']),
    'an object that says where the Temporal server is: { address: "localhost:7233", namespace: "default" }',
  ),
  client: form(
    (value) => isRecord(value) && ['connection', 'workflow', 'options'].every((part) => isRecord(value[part])),
    'a Client of @temporalio/client',
  ),
  taskQueue: filled,
  tenant: form(isRunId, '1 to 200 letters, digits and . _ - : @, starting with a letter or digit'),
  dataConverter: record,
  compress: flag,
  deltas: having(['subscribe'], 'a source of deltas'),
};

function checkConnectOptions(options: unknown): void {
  if (!isRecord(options))
    throw new HoldfastError(
      'config-invalid',
      `connect: the options must be an object such as { address: "localhost:7233" }, not ${shown(options)}.`,
    );
  checkOptions('connect', options, connectForms, 'config-invalid');
}

export class HoldfastClient<Module = never> {
  private readonly workflow: WorkflowClient;
  private readonly reader: RunReader;
  private readonly lists: RunLists;
  private readonly counter: RunCounter;
  private readonly deployment: DeploymentReader;
  /** The build to which new turns of conversations go. */
  private readonly newest = new KeptAnswer(60_000, () => this.deployment.newest());
  private readonly newestNow = new KeptAnswer(1000, async () => (await this.deployment.standing()).current);
  private readonly usageReports: UsageReports;
  private readonly storesOutside: boolean;
  private readonly tenant: string;
  private readonly taskQueue: string;
  private readonly sendLines = new SendLines();
  private closing: Promise<void> | undefined;
  /** Who is told of tasks of A2A. For the service. */
  readonly pushes: TaskPushes;

  constructor(
    private readonly connection: ServerConnection,
    options: ConnectOptions = {},
  ) {
    const { dataConverter, compress } = options;
    this.tenant = options.tenant ?? defaultTenant;
    this.taskQueue = options.taskQueue ?? defaultTaskQueue;
    const { namespace } = connection;
    const client = options.client ?? new Client({ connection: connection.connection, namespace, ...defined({ dataConverter }) });
    const { workflow, converter } = workflowsOf(client, compress);
    this.workflow = workflow;
    this.storesOutside = converter.externalStorage !== undefined;
    this.reader = new RunReader(workflow, connection, converter, options.deltas ?? processBus);
    this.lists = new RunLists(this.reader.executions, this.tenant);
    this.counter = new RunCounter(this.reader.executions, this.tenant);
    this.deployment = new DeploymentReader(connection.connection, namespace, this.taskQueue);
    const calls = (workflowId: string, runId: string): ReturnType<RunReader['modelCalls']> => this.reader.modelCalls(workflowId, runId);
    this.usageReports = new UsageReports({ executions: this.reader.executions, calls }, this.tenant);
    this.pushes = new TaskPushes({ workflow, executions: this.reader.executions, tenant: this.tenant, taskQueue: this.taskQueue });
  }

  get place(): { readonly address: string; readonly namespace: string; readonly tenant: string; readonly taskQueue: string } {
    const { connection, namespace } = this.connection;
    return { address: withoutCredentials(addressOf(connection)), namespace, tenant: this.tenant, taskQueue: this.taskQueue };
  }

  /** Starts a run, or finds the one that has this id, agent and input. `ignored` of a found one names the options that it does not have. */
  async start<Name extends AgentName<Module>>(
    agent: Name,
    input: InputOfAgent<Module, Name>,
    options: StartOptions = {},
  ): Promise<Run<OutputOfAgent<Module, Name>>> {
    return this.reader.work.wait(() => this.begin(agent, input, options));
  }

  private async begin<Output>(agent: string, input: unknown, options: StartOptions): Promise<Run<Output>> {
    const start = startInputOf(this.tenant, agent, input, options, this.storesOutside);
    const hash = hashOfStart(start, input);
    try {
      await this.workflow.start(names.workflow, {
        ...startOperation(start, this.taskQueue, hash, options),
        workflowIdConflictPolicy: 'FAIL',
      });
      this.reader.executions.changed();
      return new Run(this.reader, this.tenant, start.id, true);
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) {
        await this.reader.executions.explain(error);
        throw withCode(error);
      }
      return this.findStarted(start.id, hash, options);
    }
  }

  /** A conversation, by its id. Its first message starts it. Without an agent it has to be there. */
  conversation(agent: AgentName<Module> | undefined, id: string, options: ConversationOptions = {}): Conversation {
    if (!isRunId(id)) throw new HoldfastError('run-id-invalid', `"${id}" is no id for a conversation.`);
    const { workflow, reader, tenant, taskQueue } = this;
    const channel = { workflow, reader, newest: this.newest, workflowId: workflowIdOf(tenant, id), id };
    const line = { send: this.sendLines.send.bind(this.sendLines, id) };
    if (agent === undefined) return new Conversation(id, new RunChannel(channel), undefined, line);
    const start = (by: string | undefined): StartOperation => {
      const given = by === undefined || options.by !== undefined ? options : { ...options, by };
      const made = conversationStartOf(tenant, agent, { id, externalStorage: this.storesOutside }, given);
      return startOperation(made, taskQueue, hashOfStart(made, made.input), defined({ deadline: options.deadline }));
    };
    start(undefined);
    return new Conversation(id, new RunChannel({ ...channel, start }), agent, line);
  }

  run(id: string): Run {
    if (!isAnyRunId(id)) throw new HoldfastError('run-id-invalid', `"${id}" is no id of a run.`);
    return new Run(this.reader, this.tenant, id, false);
  }

  /** Runs of this tenant, newest first, page by page. Needs no worker. */
  list(options: ListOptions = {}): Promise<RunPage> {
    return this.reader.work.wait(() => this.lists.runs(options));
  }

  /** Everything that waits for a human, over all runs of this tenant, page by page. */
  interrupts(options: InterruptListOptions = {}): Promise<InterruptPage> {
    return this.reader.work.wait(() => this.lists.interrupts(options));
  }

  /** Applies a version of a policy to a page of the waiting runs: a run is asked again where this version asks more. Earlier questions stay. */
  applyPolicy(policy: object, options: ApplyPolicyOptions = {}): Promise<PolicyPage> {
    const { reader, tenant } = this;
    const runs = {
      list: (asked: ListOptions) => this.lists.runs(asked),
      run: (id: string) => new Run(reader, tenant, id, false),
      startOf: async (id: string) => (await readBegun(reader.histories, workflowIdOf(tenant, id)))?.start,
      shown: (id: string) => reader.shown(workflowIdOf(tenant, id)),
    };
    return reader.work.wait(() => applyPolicy(runs, policy, options));
  }

  /** How many runs of this tenant there are by their status. Of those that have ended, only what ended at `since` or later, by default 24 hours ago. */
  counts({ since = '24h' }: { readonly since?: ListTime } = {}): Promise<RunCounts> {
    const minute = Math.floor(Date.now() / 60_000) * 60_000;
    const at = timeOf(since, minute);
    if (at === undefined)
      return Promise.reject(new HoldfastError('request-invalid', `counts: since must be ${listTime.wanted}. It is ${shown(since)}.`));
    return this.reader.work.wait(() => answered(this.counter.counts(at)));
  }

  /** The builds of the task queue, newest first: which one new runs go to, which drain, and which nobody serves. */
  builds(): Promise<BuildList> {
    return this.reader.work.wait(() => answered(listBuilds(this.deployment)));
  }

  /** Whether nobody is there to do the work of runs. Undefined where somebody is, and where the server does not say. */
  noWorker(): Promise<NoWorker | undefined> {
    return this.reader.work.wait(() => noWorkerOf(this.deployment).catch(() => undefined));
  }

  /** What model calls have used, by agent, model or day. It reads histories, for some seconds at most, and says what it has not counted yet. */
  usage(options: UsageOptions = {}): Promise<UsageReport> {
    return this.reader.work.wait(() => answered(this.usageReports.report(options)));
  }

  /** Throws what an action on a run would be refused with now, as far as its record says so. Nothing is changed. */
  dryRun(id: string, action: BulkAction, options: GoOnOptions = {}): Promise<DryRun> {
    const { reader, newestNow } = this;
    const workflowId = workflowIdOf(this.tenant, this.run(id).id);
    return reader.work.wait(() => answered(dryRun({ reader, newest: newestNow }, workflowId, action, options)));
  }

  /** Asks the server whether it serves the namespace. Rejects with 'server-unreachable' when it does not answer in time, or does not know it. */
  async check(patienceMs = 10_000): Promise<void> {
    const { connection, namespace } = this.connection;
    const address = addressOf(connection);
    try {
      await connection.withDeadline(Date.now() + patienceMs, () => connection.workflowService.describeNamespace({ namespace }));
    } catch (error) {
      const lost = unanswered(error);
      if (lost !== undefined) throw new HoldfastError('server-unreachable', lost, { cause: error });
      throw new HoldfastError(
        'server-unreachable',
        `The Temporal server at ${address} does not serve the namespace '${namespace}': ${messageOf(error)}`,
        {
          cause: error,
        },
      );
    }
  }

  /** What `run` asks of the server fails after this moment, in milliseconds since 1970. What it has asked for may happen all the same. */
  withDeadline<T>(deadline: number, run: () => Promise<T>): Promise<T> {
    return this.connection.connection.withDeadline(deadline, run);
  }

  close(): Promise<void> {
    this.reader.close();
    return (this.closing ??= this.connection.close());
  }

  private async findStarted<Output>(id: string, hash: string, options: StartOptions): Promise<Run<Output>> {
    const workflowId = workflowIdOf(this.tenant, id);
    const { memo } = await this.reader.executions.describe(workflowId);
    if (memo[names.memo.start] !== hash)
      throw new HoldfastError('run-id-in-use', `The id "${id}" belongs to a run with another agent or input.`);
    const ignored = await ignoredOptions(this.reader.histories, workflowId, options);
    return new Run(this.reader, this.tenant, id, false, ignored);
  }
}
