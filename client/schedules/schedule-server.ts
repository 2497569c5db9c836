import type { ScheduleClientOptions, ScheduleDescription, ScheduleUpdateOptions } from '@temporalio/client';
import { ScheduleAlreadyRunning, ScheduleClient, ScheduleNotFoundError } from '@temporalio/client';
import { HoldfastError, messageOf } from '../../contract/errors';
import { isOfTenant, names, runIdOf, workflowIdOf } from '../../contract/names';
import { millisecondsOf } from '../../host/history/history-facts';
import { answered } from '../connection/lost-server';
import { tenantKey } from '../runs/start-operation';
import type { ScheduleMark, WantedSchedule } from './schedule-spec';

export interface StoredSchedule extends Pick<ScheduleDescription, 'state' | 'policies' | 'action' | 'info'> {
  readonly name: string;
  readonly mark: ScheduleMark;
}

type Handle = ReturnType<ScheduleClient['getHandle']>;

export type ScheduleState = Pick<ScheduleDescription['state'], 'paused' | 'note'>;

/** Must be pure. */
export type NextSchedule = (now: StoredSchedule) => Pick<ScheduleUpdateOptions, 'state'> & Partial<ScheduleUpdateOptions>;

/** The SDK's update overwrites changes since its read. With the token of the read, the server drops such an update without a word. */
class GuardedUpdates extends ScheduleClient {
  seen: Uint8Array | null | undefined;

  override get workflowService(): ScheduleClient['workflowService'] {
    const service = super.workflowService;
    const update = (request: object): ReturnType<typeof service.updateSchedule> =>
      service.updateSchedule({ ...request, ...(this.seen == null ? {} : { conflictToken: this.seen }) });
    return Object.create(service, { updateSchedule: { value: update } }) as typeof service;
  }
}

export class ScheduleServer {
  private readonly client: ScheduleClient;

  constructor(
    private readonly options: ScheduleClientOptions & { readonly namespace: string },
    readonly tenant: string,
    private readonly explain: (error: unknown) => Promise<void>,
  ) {
    this.client = new ScheduleClient(options);
  }

  async names(): Promise<readonly string[]> {
    return this.ask('', async () => {
      const found: string[] = [];
      for await (const { scheduleId } of this.client.list({ query: `${tenantKey.name} = '${this.tenant}'` }))
        if (isOfTenant(scheduleId, this.tenant)) found.push(runIdOf(scheduleId));
      return found.sort();
    });
  }

  async find(name: string): Promise<StoredSchedule | undefined> {
    return this.ask(name, async () => {
      try {
        return storedOf(name, await this.handle(name).describe());
      } catch (error) {
        if (error instanceof ScheduleNotFoundError) return undefined;
        throw error;
      }
    });
  }

  async create(name: string, { mark: { paused = false, note }, ...wanted }: WantedSchedule): Promise<void> {
    await this.ask(name, () =>
      this.client.create({
        ...wanted,
        scheduleId: workflowIdOf(this.tenant, name),
        state: { paused, ...(note === undefined ? {} : { note }) },
        typedSearchAttributes: [{ key: tenantKey, value: this.tenant }],
      }),
    ).catch((error: unknown) => {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    });
  }

  /** May change nothing if somebody else changes the schedule meanwhile, so the caller reads again. */
  async update(name: string, next: NextSchedule): Promise<void> {
    const guarded = new GuardedUpdates(this.options);
    const handle = guarded.getHandle(workflowIdOf(this.tenant, name));
    await this.ask(name, () =>
      handle.update((now) => {
        guarded.seen = now.raw.conflictToken;
        const { spec, action, policies } = now;
        return { spec, action, policies, ...next(storedOf(name, now)) };
      }),
    );
  }

  /** The server answers at most 1,000 times. Both ends count. */
  async times(name: string, since: Date, until: Date): Promise<readonly Date[]> {
    const stamp = (time: number): object => ({ seconds: Math.floor(time / 1000), nanos: (time % 1000) * 1e6 });
    const { startTime } = await this.ask(name, () =>
      this.client.workflowService.listScheduleMatchingTimes({
        namespace: this.options.namespace,
        scheduleId: workflowIdOf(this.tenant, name),
        startTime: stamp(since.getTime() - 1),
        endTime: stamp(until.getTime()),
      }),
    );
    return startTime.map((time) => new Date(millisecondsOf(time)));
  }

  on<T>(name: string, work: (handle: Handle) => Promise<T>): Promise<T> {
    return this.ask(name, () => work(this.handle(name)));
  }

  private async ask<T>(name: string, work: () => Promise<T>): Promise<T> {
    try {
      return await answered(work());
    } catch (error) {
      if (error instanceof ScheduleNotFoundError) throw unknownSchedule(name);
      if (error instanceof TypeError)
        throw new HoldfastError('schedule-invalid', `The server refuses the schedule "${name}": ${messageOf(error)}.`, { cause: error });
      await this.explain(error);
      throw error;
    }
  }

  private handle(name: string): Handle {
    return this.client.getHandle(workflowIdOf(this.tenant, name));
  }
}

function storedOf(name: string, { action, state, policies, info }: ScheduleDescription): StoredSchedule {
  const mark = action.memo?.[names.memo.schedule] as ScheduleMark | undefined;
  if (mark === undefined) throw new HoldfastError('schedule-unknown', `The schedule "${name}" was made without Holdfast.`);
  return { name, action, state, policies, info, mark };
}

export function unknownSchedule(name: string): HoldfastError {
  return new HoldfastError('schedule-unknown', `There is no schedule "${name}".`);
}
