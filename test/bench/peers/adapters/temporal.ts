import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { quietRuntime } from '../../../../worker/runtime';
import type { Peer, PeerSetup } from '../peer';
import type { HandActivities } from './temporal-workflow';
import { approve, handRun, isWaiting } from './temporal-workflow';

const taskQueue = 'by-hand';
const beatMs = 2000;

export async function open({ temporal, model, words, pay, refund }: PeerSetup): Promise<Peer> {
  if (temporal === undefined) throw new Error('Temporal by hand needs a Temporal server.');
  quietRuntime();
  const { address, namespace } = temporal;
  const activities: HandActivities = {
    model: (task, done) => Promise.resolve(model(task, done)),
    words: () => Promise.resolve(words()),
    async pay(input) {
      const context = Context.current();
      const beats = setInterval(() => context.heartbeat(), beatMs);
      try {
        return await pay(input, `${context.info.workflowExecution?.workflowId ?? ''}:${context.info.activityId}`);
      } finally {
        clearInterval(beats);
      }
    },
    refund: (input) => Promise.resolve(refund(input)),
  };
  const native = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection: native,
    namespace,
    taskQueue,
    workflowsPath: join(__dirname, 'temporal-workflow.js'),
    activities,
  });
  const done = worker.run();
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace });
  const options = (id: string, task: string): { workflowId: string; taskQueue: string; args: [string] } => ({
    workflowId: `hand-${id}`,
    taskQueue,
    args: [task],
  });
  const handle = (id: string) => client.workflow.getHandle<typeof handRun>(`hand-${id}`);
  return {
    async run(id, task) {
      await client.workflow.execute(handRun, options(id, task));
    },
    async park(id, task) {
      const run = await client.workflow.start(handRun, options(id, task));
      // A query fails while the worker is busy.
      while (!(await run.query(isWaiting).catch(() => false))) await delay(20);
    },
    async answer(id) {
      await handle(id).signal(approve);
      await handle(id).result();
    },
    async recover(ids) {
      await Promise.all(ids.map((id) => handle(id).result()));
    },
    async close() {
      worker.shutdown();
      await done;
      await native.close();
      await connection.close();
    },
  };
}
