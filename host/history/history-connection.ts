import { Connection, type ConnectionLike, type ConnectionOptions } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { factEventsOf } from './fact-events';
import type { FactEvent } from './history-facts';
import type { HistoryPage, HistorySource } from './history-pages';

const service = temporal.api.workflowservice.v1;

type Parts = ReturnType<(typeof Connection)['createCtorOptions']>;
type RpcCall = ReturnType<(typeof Connection)['generateRPCImplementation']>;

/** Reads histories for facts. A connection of another kind returns all events. */
export function factSource(connection: ConnectionLike, namespace: string): HistorySource<FactEvent> {
  return connection instanceof HistoryConnection ? connection.facts(namespace) : { namespace, workflowService: connection.workflowService };
}

/** A connection that returns pages of histories before all events are decoded. */
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

  /** Histories with the events for facts. Retries, metadata and deadlines are those of the connection. */
  facts(namespace: string): HistorySource<FactEvent> {
    return {
      namespace,
      workflowService: {
        getWorkflowExecutionHistory: (request) =>
          this.page('GetWorkflowExecutionHistory', namespace, service.GetWorkflowExecutionHistoryRequest.encode(request).finish()),
        getWorkflowExecutionHistoryReverse: (request) =>
          this.page(
            'GetWorkflowExecutionHistoryReverse',
            namespace,
            service.GetWorkflowExecutionHistoryReverseRequest.encode(request).finish(),
          ),
      },
    };
  }

  private page(name: string, namespace: string, request: Uint8Array): Promise<HistoryPage<FactEvent>> {
    return this.withMetadata(
      { 'temporal-namespace': namespace },
      () =>
        new Promise((resolve, reject) => {
          this.call({ name } as Parameters<RpcCall>[0], request, (error, response) => {
            if (error || !response) return reject(error ?? new Error(`No answer to ${name}.`));
            try {
              resolve(factEventsOf(response));
            } catch (broken) {
              reject(broken);
            }
          });
        }),
    );
  }
}
