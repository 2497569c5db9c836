import {
  CancellationScope,
  condition,
  defineSignal,
  isCancellation,
  log,
  makeContinueAsNewFunc,
  proxyActivities,
  setHandler,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import { defined } from '../contract/defined';
import { messageOf } from '../contract/errors';
import { limits } from '../contract/limits';
import { names } from '../contract/names';
import type {
  PushActivities,
  PushCommand,
  PushConfig,
  ReceiverState,
  PushNotice,
  PushQueues,
  PushedTask,
  TaskPushInput,
} from '../contract/task-push';
import { pushBegin, shownPushConfig } from '../contract/task-push';

const pushSignal = defineSignal<[PushCommand]>(names.pushSignal);

/** Sends the states of one A2A task, in order and at least once. The workflow keeps only the position; services read and send. */
export async function taskPush({ task, queues, receivers }: TaskPushInput): Promise<void> {
  const push = new TaskPush(task, queues);
  for (const receiver of receivers) push.begin(receiver);
  setHandler(pushSignal, (command) => push.take(command));
  await condition(() => push.isDone || workflowInfo().continueAsNewSuggested);
  if (push.isDone) return;
  const left = await push.rest();
  // Receivers may have been removed meanwhile.
  if (left.length > 0) await makeContinueAsNewFunc<typeof taskPush>({ memo: memoOf(left) })({ task, queues, receivers: left });
}

interface Receiver {
  state: ReceiverState;
  readonly scope: CancellationScope;
  isAtWork: boolean;
}

class TaskPush {
  private readonly receivers = new Map<string, Receiver>();
  private rests = false;

  constructor(
    private readonly task: PushedTask,
    private readonly queues: PushQueues,
  ) {}

  get isDone(): boolean {
    return this.receivers.size === 0;
  }

  take(command: PushCommand): void {
    if (command.type === 'remove') this.remove(command.id);
    else this.set(command.config, command.fromBeginning === true);
    if (!this.rests) upsertMemo(memoOf(this.states));
  }

  begin(state: ReceiverState): void {
    const receiver: Receiver = { state, scope: new CancellationScope(), isAtWork: !this.rests };
    this.receivers.set(state.config.id, receiver);
    if (!this.rests) void receiver.scope.run(() => this.tell(receiver)).then(...this.ends(receiver));
  }

  /** Stops current work, which the next execution repeats. */
  async rest(): Promise<readonly ReceiverState[]> {
    this.rests = true;
    for (const { scope } of this.receivers.values()) scope.cancel();
    await condition(() => [...this.receivers.values()].every(({ isAtWork }) => !isAtWork));
    return this.states;
  }

  private get states(): readonly ReceiverState[] {
    return [...this.receivers.values()].map(({ state }) => state);
  }

  private remove(id: string): void {
    this.receivers.get(id)?.scope.cancel();
    this.receivers.delete(id);
  }

  private set(config: PushConfig, fromBeginning: boolean): void {
    const known = this.receivers.get(config.id);
    if (known !== undefined && isSame(known.state.config, config)) return;
    if (known === undefined && this.receivers.size >= limits.pushConfigs) return;
    this.remove(config.id);
    this.begin(pushBegin(config, fromBeginning));
  }

  private ends(receiver: Receiver): [() => void, (error: unknown) => void] {
    const { config } = receiver.state;
    const over = (): void => {
      receiver.isAtWork = false;
      if (this.rests || this.receivers.get(config.id) !== receiver) return;
      this.receivers.delete(config.id);
      if (!this.isDone) upsertMemo(memoOf(this.states));
    };
    const failed = (error: unknown): void => {
      if (!isCancellation(error))
        log.warn(
          `A receiver of the task ${this.task.contextId}~${this.task.message} is told no more: ${messageOf((error as Error).cause ?? error)}`,
          {
            config: config.id,
          },
        );
      over();
    };
    return [over, failed];
  }

  private async tell(receiver: Receiver): Promise<void> {
    const { task } = this;
    for (;;) {
      const { config, cursor, isOver } = receiver.state;
      for (let [notice, ...rest] = receiver.state.pending; notice !== undefined; [notice, ...rest] = rest) {
        await this.send(receiver, notice);
        const { until: _, ...state } = receiver.state;
        receiver.state = { ...state, pending: rest };
      }
      if (isOver === true) return;
      const news = await this.activities.watchTask({ task, ...defined({ cursor }) });
      receiver.state = { config, pending: news.notices, ...defined({ cursor: news.cursor, isOver: news.isOver }) };
    }
  }

  private async send(receiver: Receiver, notice: PushNotice): Promise<void> {
    const { config, until = Date.now() + limits.pushPatienceMs } = receiver.state;
    receiver.state = { ...receiver.state, until };
    const { sendNotice } = proxyActivities<PushActivities>({
      taskQueue: this.queues.send,
      startToCloseTimeout: limits.pushTryMs * 2,
      scheduleToCloseTimeout: Math.max(until - Date.now(), limits.pushTryMs),
      retry: { initialInterval: 1000, backoffCoefficient: 2, maximumInterval: 600_000 },
    });
    await sendNotice({ task: this.task, config, notice });
  }

  private get activities(): PushActivities {
    return proxyActivities<PushActivities>({
      taskQueue: this.queues.watch,
      startToCloseTimeout: limits.pushWatchMs * 2,
      heartbeatTimeout: 20_000,
      // Without a service that sends notifications, pushes end after 30 days.
      scheduleToStartTimeout: '30 days',
      retry: { initialInterval: 1000, backoffCoefficient: 2, maximumInterval: 60_000 },
    });
  }
}

function memoOf(states: readonly ReceiverState[]): Record<string, unknown> {
  return { [names.memo.pushes]: states.map(({ config }) => shownPushConfig(config)) };
}

function isSame(one: PushConfig, other: PushConfig): boolean {
  const told = ({ url, token, authentication }: PushConfig): string =>
    JSON.stringify([url, token, authentication?.scheme, authentication?.credentials]);
  return told(one) === told(other);
}
