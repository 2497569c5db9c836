import { Connection, type ConnectionLike, type ConnectionOptions } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { factEventsOf } from './fact-events';
import type { FactEvent } from './history-facts';
import type { HistoryPage, HistorySource, PageRequest } from './history-pages';

const service = temporal.api.workflowservice.v1;

type Parts = ReturnType<(typeof Connection)['createCtorOptions']>;
type RpcCall = ReturnType<(typeof Connection)['generateRPCImplementation']>;

/** A foreign connection returns all events. */
export function factSource(connection: ConnectionLike, namespace: string): HistorySource<FactEvent> {
  return connection instanceof HistoryConnection ? connection.facts(namespace) : { namespace, workflowService: connection.workflowService };
}

export class HistoryConnection extends Connection {
  private readonly call: RpcCall;

  protected constructor(parts: Parts) {
    super(parts);
    const { client, callContextStorage, apiKeyFnRef, options } = parts;
    this.call = HistoryConnection.generateRPCImplementation({
      serviceName: 'temporal.api.workflowservice.v1.WorkflowService',
      client,
      callContextStorage,
      interceptors: options.interceptors,
      staticMetadata: options.metadata,
      apiKeyFnRef,
    });
  }

  static override lazy(options?: ConnectionOptions): HistoryConnection {
    return super.lazy(options) as HistoryConnection;
  }

  facts(namespace: string): HistorySource<FactEvent> {
    return {
      namespace,
      workflowService: {
        getWorkflowExecutionHistory: (request) => this.page('GetWorkflowExecutionHistory', namespace, request),
        getWorkflowExecutionHistoryReverse: (request) => this.page('GetWorkflowExecutionHistoryReverse', namespace, request),
      },
    };
  }

  private page(
    name: `GetWorkflowExecutionHistory${'' | 'Reverse'}`,
    namespace: string,
    request: PageRequest,
  ): Promise<HistoryPage<FactEvent>> {
    const bytes = service[`${name}Request`].encode(request).finish();
    const answered = (): Promise<Uint8Array> =>
      new Promise((resolve, reject) => {
        this.call({ name } as Parameters<RpcCall>[0], bytes, (error, response) => {
          if (error || !response) reject(error ?? new Error(`No answer to ${name}.`));
          else resolve(response);
        });
      });
    return this.withMetadata({ 'temporal-namespace': namespace }, async () => factEventsOf(await answered()));
  }
}
