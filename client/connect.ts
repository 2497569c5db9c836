import type { Forms } from '../contract/check';
import { checkOptions, filled, flag, form, having, isFilled, isRecord, record } from '../contract/check';
import { defined } from '../contract/defined';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowClient } from '@temporalio/client';
import { Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { DataConverter, LoadedDataConverter } from '@temporalio/common';
import type { DeltaSource } from '../contract/deltas';
import { isAnyRunId } from '../contract/record/child-runs';
import { HoldfastError, messageOf } from '../contract/errors';
import { defaultTaskQueue, defaultTenant, isRunId, names, workflowIdOf } from '../contract/names';
import { shown } from '../contract/shown';
import type { TemporalSettings } from '../host/connection';
import { connectTemporal } from '../host/connection';
import { readConfiguration } from '../host/configuration';
import { processBus } from '../host/event-bus';
import { unanswered } from '../host/unanswered';
import { addressOf } from '../host/server-address';
import { findLiveServer } from '../host/server/server-reuse';
import { DirectoryDriver, snapshotStorage } from '../host/snapshot-storage';
import type { ServerConnection } from './given-client';
import type { AgentName, InputOfAgent, OutputOfAgent } from './agent-types';
import { connectionOf, workflowsOf } from './given-client';
import { ignoredOptions, readBegun } from './ignored-options';
import type { InterruptListOptions, ListOptions } from './listing/list-options';
import type { InterruptPage, RunPage } from '../contract/service';
import { RunLists } from './listing/run-lists';
import { withCode } from './lost-server';
import type { ApplyPolicyOptions } from './policies';
import type { PolicyPage } from '../contract/service';
import { applyPolicy } from './policies';
import { Run } from './run';
import { RunReader } from './reading/run-reader';
import type { StartOptions } from './start-input';
import { startInputOf } from './start-input';
import { hashOfStart, startOperation } from './start-operation';
import { Conversation } from './conversation';
import { RunChannel } from './conversation-channel';
import { SendLines } from './send-line';
import type { ConversationOptions } from './conversation-options';
import { conversationStartOf } from './conversation-options';

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

export type { StartOptions } from './start-input';

/** Connects to the server that keeps the runs. `Module` is the type of the agents module, for names and inputs. */
export async function connect<Module = never>(options: ConnectOptions = {}): Promise<HoldfastClient<Module>> {
  checkConnectOptions(options);
  if (options.client !== undefined) {
    const { tenant, taskQueue, compress } = readConfiguration();
    return new HoldfastClient(connectionOf(options.client, options), { tenant, taskQueue, ...defined({ compress }), ...options });
  }
  const known = await withDefaults(options);
  const connection = await connectTemporal(serverOf(known));
  return new HoldfastClient(connection, known);
}

const connectForms: Forms<ConnectOptions> = {
  address: filled,
  server: form(
    (value) => isRecord(value) && isFilled(value['address']),
    'an object that says where the Temporal server is: { address: "localhost:7233", namespace: "default" }',
  ),
  client: form(
    (value) => isRecord(value) && isRecord(value['connection']) && isRecord(value['workflow']),
    'a Client of @temporalio/client',
  ),
  taskQueue: filled,
  tenant: form(isRunId, '1 to 200 letters, digits and . _ - : @, starting with a letter or digit'),
  dataConverter: record,
  compress: flag,
  deltas: having(['subscribe'], 'a source of deltas'),
};

/** Programs in plain JavaScript may give anything. */
function checkConnectOptions(options: unknown): void {
  if (options === undefined) return;
  if (!isRecord(options))
    throw new HoldfastError(
      'config-invalid',
      `connect: the options must be an object such as { address: "localhost:7233" }, not ${shown(options)}.`,
    );
  checkOptions('connect', options, connectForms, 'config-invalid');
}

/** What is not given comes from the environment, or from the server that runs for this directory. */
export async function withDefaults(options: ConnectOptions): Promise<ConnectOptions> {
  const { tenant, taskQueue, compress } = readConfiguration();
  return { tenant, taskQueue, ...(await embeddedServer(options)), ...defined({ compress }), ...options };
}

/** With no address given anywhere: the server that `holdfast dev` runs for this directory, with its storage. */
async function embeddedServer(options: ConnectOptions): Promise<ConnectOptions> {
  const { server, directory, namespace } = readConfiguration();
  if (options.server !== undefined || options.address !== undefined || server !== undefined || !existsSync(directory)) return {};
  const live = await findLiveServer(directory, 'file');
  if (live === undefined) return {};
  return {
    server: { address: live.address, namespace },
    dataConverter: snapshotStorage(new DirectoryDriver(join(directory, 'snapshots'))),
    compress: true,
  };
}

export class HoldfastClient<Module = never> {
  private readonly workflow: WorkflowClient;
  private readonly reader: RunReader;
  private readonly lists: RunLists;
  private readonly converter: LoadedDataConverter;
  private readonly storesOutside: boolean;
  private readonly tenant: string;
  private readonly taskQueue: string;
  private readonly sendLines = new SendLines();
  private closing: Promise<void> | undefined;

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
    this.converter = converter;
    this.storesOutside = converter.externalStorage !== undefined;
    this.reader = new RunReader(workflow, connection.connection, namespace, this.converter, options.deltas ?? processBus);
    this.lists = new RunLists(this.reader.executions, this.tenant);
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
    const channel = { workflow, reader, workflowId: workflowIdOf(tenant, id), id };
    const line = { send: this.sendLines.send.bind(this.sendLines, id) };
    if (agent === undefined) return new Conversation(id, new RunChannel(channel), undefined, line);
    const start = conversationStartOf(tenant, agent, { id, externalStorage: this.storesOutside }, options);
    const operation = startOperation(start, taskQueue, hashOfStart(start, start.input), {});
    return new Conversation(id, new RunChannel({ ...channel, start: operation }), agent, line);
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

  /**
   * Applies the version of a policy of the configuration that is given to a page of the runs that wait. Each is asked again where this version asks more
   * than the one that asked before. What was asked stays asked.
   */
  applyPolicy(policy: object, options: ApplyPolicyOptions = {}): Promise<PolicyPage> {
    const { reader, tenant } = this;
    const { connection, namespace } = this.connection;
    const runs = {
      list: (asked: ListOptions) => this.lists.runs(asked),
      run: (id: string) => new Run(reader, tenant, id, false),
      startOf: async (id: string) => (await readBegun(connection, namespace, this.converter, workflowIdOf(tenant, id), id))?.start,
      shown: (id: string) => reader.shown(workflowIdOf(tenant, id), id),
    };
    return reader.work.wait(() => applyPolicy(runs, policy, options));
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
    const { memo } = await this.reader.executions.describe(workflowId, id);
    if (memo[names.memo.start] !== hash)
      throw new HoldfastError('run-id-in-use', `The id "${id}" belongs to a run with another agent or input.`);
    const { connection, namespace } = this.connection;
    const ignored = await ignoredOptions(connection, namespace, this.converter, { workflowId, id }, options);
    return new Run(this.reader, this.tenant, id, false, ignored);
  }
}

export function serverOf(options: ConnectOptions): TemporalSettings {
  if (options.server !== undefined) return options.server;
  const { server, namespace } = readConfiguration();
  if (options.address !== undefined) return { ...server, namespace, address: options.address };
  return server ?? { address: 'localhost:7233', namespace };
}
