import type { WorkflowClient } from '@temporalio/client';
import { Client } from '@temporalio/client';
import type { LoadedDataConverter } from '@temporalio/common';
import { defined } from '../../contract/defined';
import { defaultTaskQueue } from '../../contract/names';
import { DeploymentReader } from '../../host/deployment';
import { processBus } from '../../host/event-bus';
import { SendLines } from '../conversations/send-line';
import { RunCounter } from '../listing/run-counts';
import { RunLists } from '../listing/run-lists';
import { RunReader } from '../reading/run-reader';
import { KeptAnswer } from '../runs/kept-answer';
import { TaskPushes } from '../task-pushes';
import { UsageReports } from '../usage-report';
import { ScheduleServer } from '../schedules/schedule-server';
import type { ConnectOptions } from './connect-options';
import type { ServerConnection } from './which-server';
import { workflowsOf } from './which-server';

interface TenantParts {
  readonly lists: RunLists;
  readonly counter: RunCounter;
  readonly usageReports: UsageReports;
  readonly pushes: TaskPushes;
  readonly schedules: ScheduleServer;
}

const mostTenants = 1000;

/** Shared by the clients of all tenants and callers. */
export class ClientParts {
  readonly workflow: WorkflowClient;
  readonly reader: RunReader;
  readonly deployment: DeploymentReader;
  readonly newest = new KeptAnswer(60_000, () => this.deployment.newest());
  readonly newestNow = new KeptAnswer(1000, async () => (await this.deployment.standing()).current);
  readonly externalStorage: boolean;
  readonly taskQueue: string;
  private readonly converter: LoadedDataConverter;
  readonly sendLines = new SendLines();
  private readonly tenants = new Map<string, TenantParts>();
  private closing: Promise<void> | undefined;

  constructor(
    readonly connection: ServerConnection,
    options: ConnectOptions,
  ) {
    const { dataConverter, compress } = options;
    this.taskQueue = options.taskQueue ?? defaultTaskQueue;
    const { namespace } = connection;
    const client = options.client ?? new Client({ connection: connection.connection, namespace, ...defined({ dataConverter }) });
    const { workflow, converter } = workflowsOf(client, compress);
    this.workflow = workflow;
    this.converter = converter;
    this.externalStorage = converter.externalStorage !== undefined;
    this.reader = new RunReader(workflow, connection, converter, options.deltas ?? processBus);
    this.deployment = new DeploymentReader(connection.connection, namespace, this.taskQueue);
  }

  /** Reports of usage remember what they have read, so the parts of the tenants that asked last are kept. */
  of(tenant: string): TenantParts {
    const parts = this.tenants.get(tenant) ?? this.partsOf(tenant);
    this.tenants.delete(tenant);
    this.tenants.set(tenant, parts);
    const [oldest = ''] = this.tenants.keys();
    if (this.tenants.size > mostTenants) this.tenants.delete(oldest);
    return parts;
  }

  private partsOf(tenant: string): TenantParts {
    const { workflow, reader, taskQueue } = this;
    const { connection, namespace } = this.connection;
    const options = { connection, namespace, dataConverter: this.converter };
    const { executions } = reader;
    const calls = (workflowId: string, runId: string): ReturnType<RunReader['modelCalls']> => reader.modelCalls(workflowId, runId);
    return {
      lists: new RunLists(executions, tenant),
      counter: new RunCounter(executions, tenant),
      usageReports: new UsageReports({ executions, calls }, tenant),
      pushes: new TaskPushes({ workflow, executions, tenant, taskQueue }),
      schedules: new ScheduleServer(options, tenant, (error) => executions.explain(error)),
    };
  }

  close(): Promise<void> {
    this.reader.close();
    return (this.closing ??= this.connection.close());
  }
}
