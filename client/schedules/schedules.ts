import { ScheduleOverlapPolicy } from '@temporalio/client';
import type { Action } from '../../contract/access';
import { filled, required } from '../../contract/check';
import { defined } from '../../contract/defined';
import { HoldfastError, codeOf } from '../../contract/errors';
import { limits } from '../../contract/limits';
import { runIdOf } from '../../contract/names';
import type { AgentRunInput } from '../../contract/record/wire';
import type { BatchInput } from '../../contract/batches';
import type { ConfiguredSchedule, ListedSchedule, ScheduleSpec, ScheduledStart, ShownSchedule } from '../../contract/schedules';
import type { Authority, RunForCaller } from '../connection/authority';
import type { OpenWork } from '../connection/open-work';
import { optionsOf } from '../connection/options';
import type { ListTime } from '../listing/list-options';
import { listTime, timeOf } from '../listing/list-options';
import type { AppliedAct } from './apply-schedules';
import { actOf, applySchedule } from './apply-schedules';
import type { ScheduleOwner } from './schedule-spec';
import { checkSchedule, wantedSchedule } from './schedule-spec';
import type { ScheduleServer, StoredSchedule } from './schedule-server';
import { unknownSchedule } from './schedule-server';

export interface BackfillOptions {
  readonly since: ListTime;
  readonly until: ListTime;
}

const shownTimes = 5;

/**
 * Schedules of the client's tenant. Each time of a schedule starts a run with the id `NAME-TIME`.
 * @example
 * const start = { agent: 'support', input: 'Close old tickets' };
 * await client.schedules.set('night', { cron: '0 2 * * *', zone: 'Europe/Berlin', start });
 * const { next, runs } = await client.schedules.get('night');
 * console.log(next, runs);
 */
export class Schedules {
  /** Lists of schedules lag, and may lack a schedule that was just applied. */
  private readonly applied = new Set<string>();

  constructor(
    private readonly server: ScheduleServer,
    private readonly owner: ScheduleOwner,
    private readonly acting: Authority,
    private readonly work: OpenWork,
  ) {}

  list(): Promise<readonly ListedSchedule[]> {
    return this.work.wait(async () => {
      this.acting.permit('runs:read');
      const found = await Promise.all((await this.server.names()).map((name) => this.server.find(name).catch(withoutUnknown)));
      const rows = found.filter((one) => one !== undefined);
      return (await this.acting.readable(rows, (row) => runOf(row.name, startOf(row), row.mark.by))).map(listed);
    });
  }

  get(name: string): Promise<ShownSchedule> {
    return this.work.wait(async () => shown(await this.known(name, 'runs:read')));
  }

  /** Makes a schedule, or changes it. A pause stays, unless the text says another pause than before. */
  set(name: string, spec: ScheduleSpec): Promise<ShownSchedule> {
    return this.work.wait(async () => {
      checkSchedule(name, spec);
      if (spec.start === undefined)
        throw new HoldfastError('schedule-invalid', 'A batch needs a function, so only a schedule of the configuration can have a batch.');
      const { by, proof } = this.acting.author({});
      await this.check('runs:start', name, spec, by);
      const wanted = wantedSchedule(name, spec, this.owner, { source: 'api', ...defined({ by, proof }) });
      await applySchedule(this.server, name, wanted, async (now) => {
        if (now === undefined) return 'made';
        await this.check('runs:start', name, startOf(now), now.mark.by);
        if (now.mark.source === 'config')
          throw new HoldfastError('schedule-configured', `The schedule "${name}" is from the configuration.`);
        return now.mark.hash === wanted.mark.hash ? 'same' : 'changed';
      });
      return shown(await this.found(name));
    });
  }

  pause(name: string, note = 'paused'): Promise<void> {
    return this.control(name, (handle) => {
      optionsOf({ note }, 'pause', { note: filled });
      return handle.pause(this.acting.signed(note));
    });
  }

  resume(name: string): Promise<void> {
    return this.control(name, (handle) => handle.unpause(this.acting.signed('resumed')));
  }

  /** Starts a run as at a time of the schedule, also of a paused schedule. `overlap` holds. */
  runNow(name: string): Promise<void> {
    return this.work.wait(async () => {
      await this.known(name, 'runs:start');
      const { policies } = await this.known(name, 'runs:control');
      await this.server.on(name, (handle) => handle.trigger(policies.overlap));
    });
  }

  /** Starts the runs of past times that had none, one after another, or together with `allow-all`. */
  backfill(name: string, options: BackfillOptions): Promise<{ readonly times: number }> {
    return this.work.wait(async () => {
      const { since, until } = rangeOf(options);
      await this.known(name, 'runs:start');
      const { mark } = await this.known(name, 'runs:control');
      const times = (await this.server.times(name, since, until)).length;
      if (times > limits.backfill)
        throw new HoldfastError(
          'request-invalid',
          `The schedule "${name}" has ${times === 1000 ? 'at least 1,000' : times} times between since and until. One backfill starts at most ${limits.backfill} runs.`,
        );
      const overlap = mark.overlap === 'allow-all' ? ScheduleOverlapPolicy.ALLOW_ALL : ScheduleOverlapPolicy.BUFFER_ALL;
      if (times > 0) await this.server.on(name, (handle) => handle.backfill({ start: since, end: until, overlap }));
      return { times };
    });
  }

  delete(name: string): Promise<void> {
    return this.control(name, (handle) => handle.delete());
  }

  /**
   * Makes the schedules of the configuration, and pauses schedules that it no longer has. Leaves schedules of `set`.
   */
  apply(specs: Readonly<Record<string, ConfiguredSchedule>>): Promise<Readonly<Record<string, AppliedAct>>> {
    return this.work.wait(async () => {
      const acts: Record<string, AppliedAct> = {};
      for (const [name, spec] of Object.entries(specs)) checkSchedule(name, spec);
      for (const name of new Set([...Object.keys(specs), ...this.applied, ...(await this.server.names())])) {
        const spec = Object.hasOwn(specs, name) ? specs[name] : undefined;
        const wanted = spec === undefined ? undefined : wantedSchedule(name, spec, this.owner, { source: 'config' });
        const act = await applySchedule(this.server, name, wanted, (now) => actOf(now, wanted, this.owner.taskQueue)).catch(
          (error: unknown) => {
            if (wanted === undefined) return withoutUnknown(error);
            throw error;
          },
        );
        if (act !== undefined && (act !== 'same' || wanted !== undefined)) acts[name] = act;
        if (wanted !== undefined) this.applied.add(name);
      }
      return acts;
    });
  }

  private control(name: string, act: Parameters<ScheduleServer['on']>[1]): Promise<void> {
    return this.work.wait(async () => {
      await this.known(name, 'runs:control');
      await this.server.on(name, act);
    });
  }

  private async known(name: string, action: Action): Promise<StoredSchedule> {
    this.acting.permit(action);
    const found = await this.found(name);
    await this.check(action, name, startOf(found), found.mark.by);
    return found;
  }

  private async found(name: string): Promise<StoredSchedule> {
    const found = await this.server.find(name);
    if (found === undefined) throw unknownSchedule(name);
    return found;
  }

  private check(action: Action, name: string, what: Started, by: string | undefined): Promise<void> {
    return this.acting.checkRun(action, runOf(name, what, by), () => unknownSchedule(name));
  }
}

function withoutUnknown(error: unknown): undefined {
  if (codeOf(error) !== 'schedule-unknown') throw error;
}

type Started = Pick<ShownSchedule, 'start' | 'batch'>;

function runOf(name: string, { start, batch }: Started, by = `schedule:${name}`): RunForCaller {
  const { agent = '', tags = [] } = start ?? batch ?? {};
  return { id: name, agent, tags, startedBy: by };
}

function rangeOf(options: BackfillOptions): { readonly since: Date; readonly until: Date } {
  const now = Date.now();
  const given = optionsOf(options, 'backfill', { since: required(listTime), until: required(listTime) });
  const since = timeOf(given.since, now) ?? 0;
  const until = timeOf(given.until, now) ?? 0;
  if (since >= until || until > now)
    throw new HoldfastError('request-invalid', 'backfill: until must be after since, and not in the future.');
  return { since: new Date(since), until: new Date(until - 1) };
}

function startOf({ action, mark }: StoredSchedule): Started {
  const [given] = action.args as unknown as readonly [BatchInput | (AgentRunInput & { readonly start: ScheduledStart })];
  if ('queue' in given) {
    const { agent, concurrency, perMinute, tags } = given;
    return { batch: { agent, concurrency, tags, ...defined({ perMinute }) } };
  }
  const { agent, input, tags = [], values = {}, model } = given.start;
  const start = {
    agent,
    input,
    ...(tags.length === 0 ? {} : { tags }),
    ...(Object.keys(values).length === 0 ? {} : { values }),
    ...defined({ model, deadline: mark.deadline }),
  };
  return { start };
}

function listed(stored: StoredSchedule): ListedSchedule {
  const { name, mark, state, info } = stored;
  const { hash: _hash, proof: _proof, paused: _paused, note: _note, deadline: _deadline, by, ...spec } = mark;
  const what = startOf(stored);
  return {
    name,
    agent: runOf(name, what).agent,
    ...spec,
    ...defined({ batch: what.batch, setBy: by, note: state.note === '' ? undefined : state.note }),
    paused: state.paused,
    next: info.nextActionTimes.slice(0, shownTimes).map((time) => time.toISOString()),
    runs: info.recentActions
      .map(({ action, scheduledAt }) => ({ id: runIdOf(action.workflow.workflowId), at: scheduledAt.toISOString() }))
      .reverse(),
    skipped: info.numActionsSkippedOverlap,
    missed: info.numActionsMissedCatchupWindow,
  };
}

function shown(stored: StoredSchedule): ShownSchedule {
  return { ...listed(stored), ...startOf(stored) };
}
