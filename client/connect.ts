import { withoutCredentials } from '../contract/credentials';
import { defined } from '../contract/defined';
import type { WorkflowClient } from '@temporalio/client';
import { Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { isAnyRunId } from '../contract/record/child-runs';
import { HoldfastError, messageOf } from '../contract/errors';
import { defaultTaskQueue, defaultTenant, isRunId, names, workflowIdOf } from '../contract/names';
import { shown } from '../contract/shown';
import { readConfiguration } from '../host/configuration';
import { processBus } from '../host/event-bus';
import { unanswered } from '../host/unanswered';
import { addressOf } from '../host/server-address';
import type { ConnectOptions } from './connection/connect-options';
import { checkConnectOptions } from './connection/connect-options';
import type { ServerConnection } from './connection/which-server';
import type { AgentName, InputOfAgent, OutputOfAgent } from './runs/agent-types';
import { connectionOf, workflowsOf, openConnection, withDefaults } from './connection/which-server';
import { ignoredOptions, readBegun } from './runs/ignored-options';
import type { InterruptListOptions, ListOptions, ListTime } from './listing/list-options';
import type { InterruptPage, NoWorker, PolicyPage, RunPage } from '../contract/service';
import { listTime, timeOf } from './listing/list-options';
import { RunCounter } from './listing/run-counts';
import { RunLists } from './listing/run-lists';
import { listBuilds, noWorkerOf } from './builds';
import { KeptAnswer } from './runs/kept-answer';
import type { DryRun } from './runs/dry-runs';
import { dryRun } from './runs/dry-runs';
import { answered, withCode } from './connection/lost-server';
import type { ApplyPolicyOptions } from './policies';
import { applyPolicy } from './policies';
import { Run } from './runs/run';
import { RunReader } from './reading/run-reader';
import type { StartOptions } from './runs/start-input';
import { startInputOf } from './runs/start-input';
import type { StartOperation } from './runs/start-operation';
import { hashOfStart, startOperation } from './runs/start-operation';
import { Conversation } from './conversations/conversation';
import { RunChannel } from './conversations/conversation-channel';
import { SendLines } from './conversations/send-line';
import { TaskPushes } from './task-pushes';
import type { ConversationOptions } from './conversations/conversation-options';
import { conversationStartOf } from './conversations/conversation-options';
import type { BuildList, BulkAction, RunCounts, UsageReport } from '../contract/service-facts';
import { DeploymentReader } from '../host/deployment';
import type { GoOnOptions } from './runs/retry';
import type { UsageOptions } from './usage-report';
import { UsageReports } from './usage-report';

/**
 * Connects to a Temporal server. `Module`: the type of the agents module, for names and inputs.
 * @example
 * const client = await connect<typeof import('./agents')>({ address: '127.0.0.1:7233' });
 * const run = await client.start('support', 'Refund order 42');
 * console.log(await run.result());
 * await client.close();
 */
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

/**
 * Starts, follows, answers and lists runs. Made by `connect`, or from an open connection to a Temporal server.
 * @example
 * const client = await connect();
 * const run = await client.start('support', 'Refund order 42', { id: 'ticket-981' });
 * console.log(await run.result());
 * const { runs } = await client.list({ agent: 'support' });
 * console.log(runs.map(({ id, status }) => [id, status]));
 * await client.close();
 */
export class HoldfastClient<Module = never> {
  private readonly workflow: WorkflowClient;
  private readonly reader: RunReader;
  private readonly lists: RunLists;
  private readonly counter: RunCounter;
  private readonly deployment: DeploymentReader;
  private readonly newest = new KeptAnswer(60_000, () => this.deployment.newest());
  private readonly newestNow = new KeptAnswer(1000, async () => (await this.deployment.standing()).current);
  private readonly usageReports: UsageReports;
  private readonly externalStorage: boolean;
  private readonly tenant: string;
  private readonly taskQueue: string;
  private readonly sendLines = new SendLines();
  private closing: Promise<void> | undefined;
  /** Push receivers of A2A tasks, for the service. */
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
    this.externalStorage = converter.externalStorage !== undefined;
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

  /** Starts a run, or finds the run with this id, agent and input. `ignored` names options that a found run does not have. */
  async start<Name extends AgentName<Module>>(
    agent: Name,
    input: InputOfAgent<Module, Name>,
    options: StartOptions = {},
  ): Promise<Run<OutputOfAgent<Module, Name>>> {
    return this.reader.work.wait(() => this.begin(agent, input, options));
  }

  private async begin<Output>(agent: string, input: unknown, options: StartOptions): Promise<Run<Output>> {
    const { tenant, externalStorage } = this;
    const start = startInputOf({ tenant, agent, externalStorage }, input, options);
    const hash = hashOfStart(start, input);
    try {
      await this.workflow.start(names.workflow, {
        ...startOperation(start, this.taskQueue, hash, options),
        workflowIdConflictPolicy: 'FAIL',
      });
      this.reader.executions.changed();
      return new Run(this.reader, workflowIdOf(tenant, start.id), true);
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) {
        await this.reader.executions.explain(error);
        throw withCode(error);
      }
      return this.findStarted(start.id, hash, options);
    }
  }

  /** Opens a conversation. The first message starts a new conversation. Without an agent, the conversation must exist. */
  conversation(agent: AgentName<Module> | undefined, id: string, options: ConversationOptions = {}): Conversation {
    if (!isRunId(id)) throw new HoldfastError('run-id-invalid', `"${id}" is no id for a conversation.`);
    const { workflow, reader, tenant, taskQueue, externalStorage } = this;
    const channel = { workflow, reader, newest: this.newest, workflowId: workflowIdOf(tenant, id), id };
    const line = { send: this.sendLines.send.bind(this.sendLines, id) };
    if (agent === undefined) return new Conversation(id, new RunChannel(channel), undefined, line);
    const start = (by: string | undefined): StartOperation => {
      const given = by === undefined || options.by !== undefined ? options : { ...options, by };
      const made = conversationStartOf({ id, tenant, agent, externalStorage }, given);
      return startOperation(made, taskQueue, hashOfStart(made, made.input), defined({ deadline: options.deadline }));
    };
    start(undefined);
    return new Conversation(id, new RunChannel({ ...channel, start }), agent, line);
  }

  run(id: string): Run {
    if (!isAnyRunId(id)) throw new HoldfastError('run-id-invalid', `"${id}" is no id of a run.`);
    return new Run(this.reader, workflowIdOf(this.tenant, id), false);
  }

  /** Lists runs of this tenant, newest first, page by page. Needs no worker. */
  list(options: ListOptions = {}): Promise<RunPage> {
    return this.reader.work.wait(() => this.lists.runs(options));
  }

  /** Lists the open interrupts of this tenant, page by page. */
  interrupts(options: InterruptListOptions = {}): Promise<InterruptPage> {
    return this.reader.work.wait(() => this.lists.interrupts(options));
  }

  /** Applies a policy version to a page of waiting runs. A run asks again where this version asks more; earlier questions stay. */
  applyPolicy(policy: object, options: ApplyPolicyOptions = {}): Promise<PolicyPage> {
    const { reader, tenant } = this;
    const runs = {
      list: (asked: ListOptions) => this.lists.runs(asked),
      run: (id: string) => new Run(reader, workflowIdOf(tenant, id), false),
      startOf: async (id: string) => (await readBegun(reader.histories, workflowIdOf(tenant, id)))?.start,
      shown: (id: string) => reader.shown(workflowIdOf(tenant, id)),
    };
    return reader.work.wait(() => applyPolicy(runs, policy, options));
  }

  /** Counts runs of this tenant by status. Ended runs count if they ended at `since` or later. Default: 24 hours ago. */
  counts({ since = '24h' }: { readonly since?: ListTime } = {}): Promise<RunCounts> {
    const minute = Math.floor(Date.now() / 60_000) * 60_000;
    const at = timeOf(since, minute);
    if (at === undefined)
      return Promise.reject(new HoldfastError('request-invalid', `counts: since must be ${listTime.wanted}. It is ${shown(since)}.`));
    return this.reader.work.wait(() => answered(this.counter.counts(at)));
  }

  /** Lists the builds of the task queue with their state, newest first. */
  builds(): Promise<BuildList> {
    return this.reader.work.wait(() => answered(listBuilds(this.deployment)));
  }

  /** Returns the task queue if no worker polls. Undefined: a worker polls, or the server does not tell. */
  noWorker(): Promise<NoWorker | undefined> {
    return this.reader.work.wait(() => noWorkerOf(this.deployment).catch(() => undefined));
  }

  /** Reports the usage of model calls by agent, model or day. Reads histories for some seconds, and counts the rest in later reports. */
  usage(options: UsageOptions = {}): Promise<UsageReport> {
    return this.reader.work.wait(() => answered(this.usageReports.report(options)));
  }

  /** Throws the refusal that an action on a run would get now. Changes nothing. */
  dryRun(id: string, action: BulkAction, options: GoOnOptions = {}): Promise<DryRun> {
    const { reader, newestNow } = this;
    const workflowId = workflowIdOf(this.tenant, this.run(id).id);
    return reader.work.wait(() => answered(dryRun({ reader, newest: newestNow }, workflowId, action, options)));
  }

  /** Checks that the server serves the namespace. Throws 'server-unreachable' after the timeout, or for an unknown namespace. */
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

  /** Requests of `run` fail after the deadline in milliseconds since 1970, but may still take effect. */
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
    return new Run(this.reader, workflowId, false, ignored);
  }
}
