import { randomUUID } from 'node:crypto';
import { extname, join } from 'node:path';
import { Context } from '@temporalio/activity';
import { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { TemporalSettings } from '../../host/connection';
import { connectNative, connectTemporal } from '../../host/connection';
import { Deployment } from '../../worker/builds/deployment';
import type { RawActivities } from './raw-workflow';

export interface RawBed {
  readonly client: Client;
  readonly taskQueue: string;
  close(): Promise<void>;
}

export interface RawOptions {
  readonly server: TemporalSettings;
  readonly taskQueue: string;
  readonly say: string;
  readonly toolText: string;
  readonly onTool?: (workflowId: string) => void;
}

export async function startRawBed({ server, taskQueue, say, toolText, onTool }: RawOptions): Promise<RawBed> {
  const native = await connectNative(server, NativeConnection);
  const connection = await connectTemporal(server);
  let stopped = false;
  const worker = await Worker.create({
    connection: native,
    namespace: server.namespace,
    taskQueue,
    workflowsPath: join(__dirname, `raw-workflow${extname(__filename)}`),
    activities: activities(say, toolText, onTool),
    workerDeploymentOptions: {
      version: { deploymentName: taskQueue, buildId: 'raw' },
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'PINNED',
    },
    stickyQueueScheduleToStartTimeout: 1000,
    maxConcurrentWorkflowTaskExecutions: 16,
    maxHeartbeatThrottleInterval: 500,
    defaultHeartbeatThrottleInterval: 500,
  });
  const done = worker.run();
  await new Deployment(connection.connection, server.namespace, taskQueue).makeCurrent('raw', () => !stopped);
  return {
    client: new Client({ connection: connection.connection, namespace: server.namespace }),
    taskQueue,
    async close() {
      stopped = true;
      worker.shutdown();
      await done;
      await native.close();
      await connection.close();
    },
  };
}

function activities(say: string, toolText: string, onTool: RawOptions['onTool']): RawActivities {
  return {
    callModel(input) {
      const { turn } = input as { turn: number };
      const parts = [
        { type: 'text', text: say },
        { type: 'tool-call', id: `call-${turn}`, name: 'look', input: { n: turn } },
      ];
      const result = {
        address: Context.current().info.activityId,
        message: { role: 'assistant', parts, id: randomUUID() },
        model: 'bench/model',
        usage: { inputTokens: 100, outputTokens: 100 },
      };
      return Promise.resolve(result);
    },
    callTool() {
      onTool?.(Context.current().info.workflowExecution?.workflowId ?? '');
      return Promise.resolve({
        address: Context.current().info.activityId,
        outcome: { type: 'done', messageId: randomUUID(), output: toolText },
      });
    },
  };
}
