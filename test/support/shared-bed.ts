import { randomUUID } from 'node:crypto';
import type { LanguageModel } from '../../activities/models/language-model';
import type { HoldfastClient } from '../../client/connect';
import type { Conversation } from '../../client/conversations/conversation';
import type { ConversationOptions } from '../../client/conversations/conversation-options';
import type { Run } from '../../client/runs/run';
import type { StartOptions } from '../../client/runs/start-input';
import type { Json } from '../../contract/messages/messages';
import type { HoldfastWorker, WorkerOptions } from '../../worker/create-worker';
import { stuckRuns } from './stuck-runs';
import type { Temporal } from './temporal';
import { openTemporal } from './temporal';
import type { Answerer, TestBed } from './test-bed';
import { startTestBed } from './test-bed';

export interface SharedBed extends Pick<TestBed, 'worker' | 'client' | 'taskQueue'> {
  readonly temporal: Temporal;
  /** The model's name replaces the model of every agent, isolated agents included. */
  scripted(model: Answerer | LanguageModel): Scripted;
  /** Open runs wait, and the client stays. */
  stopWorker(): Promise<void>;
  startWorker(): Promise<void>;
}

export interface Scripted {
  readonly model: string;
  start(agent: string, input: Json, options?: StartOptions): Promise<Run>;
  conversation(agent: string, options?: ConversationOptions): Conversation;
}

/** Opens before the first test of the file and closes after the last. Fails if a run is stuck. */
export function sharedBed(options: Partial<WorkerOptions> = {}): SharedBed {
  const taskQueue = options.taskQueue ?? `queue-${randomUUID()}`;
  const models = new Map<string, LanguageModel>();
  const modelOf = (name: string): LanguageModel => {
    const model = models.get(name);
    if (model === undefined) throw new Error(`No test has a model "${name}". Start the run with \`scripted\`.`);
    return model;
  };
  const open = (): Promise<TestBed> =>
    startTestBed(() => ({ parts: [] }), { models: { providers: { test: { model: modelOf } } }, ...options, taskQueue });
  let temporal: Temporal;
  let client: HoldfastClient;
  let worker: HoldfastWorker;
  let isStopped = false;

  beforeAll(async () => {
    const [opened, bed] = await Promise.all([openTemporal(), open()]);
    [temporal, client, worker] = [opened, bed.client, bed.worker];
  });
  afterAll(async () => {
    const stuck = await stuckRuns(taskQueue);
    await client.close();
    if (!isStopped) await worker.shutdown();
    await temporal.close();
    expect(stuck).toEqual([]);
  });

  return {
    taskQueue,
    get worker() {
      return worker;
    },
    get client() {
      return client;
    },
    get temporal() {
      return temporal;
    },
    scripted(model) {
      const name = `script-${models.size}`;
      models.set(name, typeof model === 'function' ? { generate: async (request) => model(request) } : model);
      const named = { model: `test/${name}` };
      return {
        ...named,
        start: (agent, input, more) => client.start(agent, input, { ...named, ...more }),
        conversation: (agent, more) => client.conversation(agent, `${name}-${taskQueue}`, { ...named, ...more }),
      };
    },
    async stopWorker() {
      await worker.shutdown();
      isStopped = true;
    },
    async startWorker() {
      if (!isStopped) return;
      const again = await open();
      [worker, isStopped] = [again.worker, false];
      // Tests keep the first client.
      await again.client.close();
    },
  };
}
