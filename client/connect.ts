import { withoutCredentials } from '../contract/credentials';
import type { Action, Author } from '../contract/access';
import { defined } from '../contract/defined';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { isAnyRunId, rootRunId } from '../contract/record/child-runs';
import { HoldfastError, messageOf } from '../contract/errors';
import { defaultTenant, isRunId, names, workflowIdOf } from '../contract/names';
import type { StartInput } from '../contract/record/wire';
import { shown } from '../contract/shown';
import { readConfiguration } from '../host/configuration';
import { unanswered } from '../host/unanswered';
import { addressOf } from '../host/server-address';
import { Batches } from './batches';
import type { KnownCaller, RunForCaller } from './connection/authority';
import { Authority } from './connection/authority';
import { ClientParts } from './connection/client-parts';
import type { ConnectOptions } from './connection/connect-options';
import { checkConnectOptions } from './connection/connect-options';
import type { ServerConnection } from './connection/which-server';
import type { AgentName, InputOfAgent, OutputOfAgent } from './runs/agent-types';
import { connectionOf, openConnection, withDefaults } from './connection/which-server';
import { ignoredOptions, readBegun } from './runs/ignored-options';
import type { InterruptListOptions, ListOptions, ListTime } from './listing/list-options';
import type { InterruptPage, NoWorker, PolicyPage, RunPage } from '../contract/service';
import { listTime, timeOf } from './listing/list-options';
import type { RunLists } from './listing/run-lists';
import { rowForCaller } from './listing/run-lists';
import { listBuilds, noWorkerOf } from './builds';
import type { DryRun } from './runs/dry-runs';
import { dryRun } from './runs/dry-runs';
import { answered, withCode } from './connection/lost-server';
import type { ApplyPolicyOptions } from './policies';
import { applyPolicy } from './policies';
import { Run } from './runs/run';
import type { RunReader } from './reading/run-reader';
import type { StartOptions } from './runs/start-input';
import { startInputOf } from './runs/start-input';
import type { StartOperation } from './runs/start-operation';
import { hashOfStart, startOperation } from './runs/start-operation';
import { Conversation } from './conversations/conversation';
import { FeedSource } from './reading/feed-source';
import { RunChannel } from './conversations/conversation-channel';
import { Schedules } from './schedules/schedules';
import type { TaskPushes } from './task-pushes';
import type { ConversationOptions } from './conversations/conversation-options';
import { conversationStartOf } from './conversations/conversation-options';
import type { BuildList, BulkAction, RunCounts, UsageReport } from '../contract/service-facts';
import type { GoOnOptions } from './runs/retry';
import type { UsageOptions } from './usage-report';

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
  private readonly parts: ClientParts;
  private readonly reader: RunReader;
  private readonly acting: Authority;
  private readonly through: { readonly reader: RunReader; readonly acting: Authority };
  private readonly tenant: string;
  readonly pushes: TaskPushes;
  readonly schedules: Schedules;
  /** Batches of runs, for the service. */
  readonly batches: Batches;

  constructor(connection: ServerConnection | ClientParts, options: ConnectOptions = {}, caller?: KnownCaller) {
    checkConnectOptions(options);
    this.parts = connection instanceof ClientParts ? connection : new ClientParts(connection, options);
    this.tenant = options.tenant ?? defaultTenant;
    this.reader = this.parts.reader;
    this.acting = new Authority(async (workflowId) => rowForCaller(await this.reader.executions.describe(rootRunId(workflowId))), caller);
    this.through = { reader: this.reader, acting: this.acting };
    const { pushes, schedules } = this.parts.of(this.tenant);
    const { taskQueue, externalStorage } = this.parts;
    this.pushes = pushes;
    this.schedules = new Schedules(schedules, { tenant: this.tenant, taskQueue, externalStorage }, this.acting, this.reader.work);
    this.batches = new Batches(this.parts, this.acting, this.tenant);
  }

  /** The same connection for another tenant. Its `close` closes the connection of all. */
  forTenant(tenant: string): HoldfastClient<Module> {
    return new HoldfastClient(this.parts, { tenant });
  }

  /** The same connection for a caller whose name is proven: acts are in the caller's name, within the tenant, and as far as `may` allows. */
  as(caller: KnownCaller): HoldfastClient<Module> {
    return new HoldfastClient(this.parts, { tenant: caller.tenant }, caller);
  }

  /** Who acts through this client. Undefined: anybody, and names are claims. */
  get caller(): KnownCaller | undefined {
    return this.acting.caller;
  }

  get place(): { readonly address: string; readonly namespace: string; readonly tenant: string; readonly taskQueue: string } {
    const { connection, namespace } = this.parts.connection;
    return { address: withoutCredentials(addressOf(connection)), namespace, tenant: this.tenant, taskQueue: this.parts.taskQueue };
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
    const { tenant } = this;
    const { externalStorage, workflow, taskQueue } = this.parts;
    const made = startInputOf({ tenant, agent, externalStorage }, input, options);
    const start = { ...made, ...this.acting.author({ by: made.by }) };
    const hash = hashOfStart(start, input);
    const workflowId = workflowIdOf(tenant, start.id);
    await this.acting.check('runs:start', workflowId, forCaller(start));
    try {
      await workflow.start(names.workflow, {
        ...startOperation(start, taskQueue, hash, options),
        workflowIdConflictPolicy: 'FAIL',
      });
      this.reader.executions.changed();
      return new Run(this.through, workflowId, true);
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
    if (!isRunId(id)) throw new HoldfastError('run-id-invalid', `${shown(id)} is no id for a conversation.`);
    const { tenant, reader, acting, parts } = this;
    const { workflow, taskQueue, externalStorage, newest, sendLines } = parts;
    const workflowId = workflowIdOf(tenant, id);
    const channel = { workflow, reader, acting, newest, workflowId, id };
    const line = { send: sendLines.send.bind(sendLines, workflowId) };
    if (agent === undefined) return new Conversation(id, new RunChannel(channel), undefined, line);
    const opened = acting.author({ by: options.by });
    const start = (author: Author): StartOperation => {
      const made = {
        ...conversationStartOf({ id, tenant, agent, externalStorage }, options),
        ...(opened.by === undefined ? author : opened),
      };
      return startOperation(made, taskQueue, hashOfStart(made, made.input), defined({ deadline: options.deadline }));
    };
    start({});
    const { tags = [] } = options;
    const asNew = { id, agent, tags, ...defined({ startedBy: opened.by }) };
    return new Conversation(id, new RunChannel({ ...channel, start, asNew }), agent, line);
  }

  run(id: string): Run {
    if (!isAnyRunId(id)) throw new HoldfastError('run-id-invalid', `${shown(id)} is no id of a run.`);
    return new Run(this.through, workflowIdOf(this.tenant, id), false);
  }

  /** Lists runs of this tenant, newest first, page by page. Needs no worker. */
  list(options: ListOptions = {}): Promise<RunPage> {
    return this.reader.work.wait(async () => {
      await this.permit('runs:read');
      const page = await this.lists.runs(options);
      return { ...page, runs: await this.acting.readable(page.runs, (run) => run) };
    });
  }

  /** Lists the open interrupts of this tenant, page by page. */
  interrupts(options: InterruptListOptions = {}): Promise<InterruptPage> {
    return this.reader.work.wait(async () => {
      await this.permit('runs:read');
      const page = await this.lists.interrupts(options);
      return { ...page, interrupts: await this.acting.readable(page.interrupts, ({ runId, ...run }) => ({ ...run, id: runId })) };
    });
  }

  /** Applies a policy version to a page of waiting runs. A run asks again where this version asks more; earlier questions stay. */
  applyPolicy(policy: object, options: ApplyPolicyOptions = {}): Promise<PolicyPage> {
    const { reader, tenant } = this;
    const runs = {
      list: (asked: ListOptions) => this.list(asked),
      run: (id: string) => this.run(id),
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
    return this.reader.work.wait(() => answered(this.parts.of(this.tenant).counter.counts(at)));
  }

  /** Lists the builds of the task queue with their state, newest first. */
  builds(): Promise<BuildList> {
    return this.reader.work.wait(() => answered(listBuilds(this.parts.deployment)));
  }

  /** Returns the task queue if no worker polls. Undefined: a worker polls, or the server does not tell. */
  noWorker(): Promise<NoWorker | undefined> {
    return this.reader.work.wait(() => noWorkerOf(this.parts.deployment).catch(() => undefined));
  }

  /** Reports the usage of model calls by agent, model or day. Reads histories for some seconds, and counts the rest in later reports. */
  usage(options: UsageOptions = {}): Promise<UsageReport> {
    return this.reader.work.wait(() => answered(this.parts.of(this.tenant).usageReports.report(options)));
  }

  /** Throws the refusal that an action on a run would get now. Changes nothing. */
  dryRun(id: string, action: BulkAction, options: GoOnOptions = {}): Promise<DryRun> {
    const { reader } = this;
    const { newestNow } = this.parts;
    const workflowId = workflowIdOf(this.tenant, this.run(id).id);
    return reader.work.wait(async () => {
      await this.acting.check('runs:control', workflowId);
      return answered(dryRun({ reader, newest: newestNow }, workflowId, action, options));
    });
  }

  /** Checks that the server serves the namespace. Throws 'server-unreachable' after the timeout, or for an unknown namespace. */
  async check(patienceMs = 10_000): Promise<void> {
    const { connection, namespace } = this.parts.connection;
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

  get feedSource(): FeedSource {
    return new FeedSource(this.reader);
  }

  /** Requests of `run` fail after the deadline in milliseconds since 1970, but may still take effect. */
  withDeadline<T>(deadline: number, run: () => Promise<T>): Promise<T> {
    return this.parts.connection.connection.withDeadline(deadline, run);
  }

  close(): Promise<void> {
    return this.parts.close();
  }

  private async findStarted<Output>(id: string, hash: string, options: StartOptions): Promise<Run<Output>> {
    const workflowId = workflowIdOf(this.tenant, id);
    const { memo } = await this.reader.executions.describe(workflowId);
    if (memo[names.memo.start] !== hash)
      throw new HoldfastError('run-id-in-use', `The id "${id}" belongs to a run with another agent or input.`);
    const ignored = await ignoredOptions(this.reader.histories, workflowId, options);
    return new Run(this.through, workflowId, false, ignored);
  }

  private get lists(): RunLists {
    return this.parts.of(this.tenant).lists;
  }

  /** The author of an act: the caller, else the claimed name. Throws for a claim beside a caller. */
  author(claimed: Author): Author {
    return this.acting.author(claimed);
  }

  /** Throws if the caller may not do this with any run. */
  async permit(action: Action): Promise<void> {
    this.acting.permit(action);
  }
}

function forCaller({ id, agent, tags = [], by }: StartInput): RunForCaller {
  return { id, agent, tags, ...defined({ startedBy: by }) };
}
