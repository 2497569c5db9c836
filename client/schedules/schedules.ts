import { ScheduleOverlapPolicy } from '@temporalio/client';
import type { Action } from '../../contract/access';
import { filled, required } from '../../contract/check';
import { defined } from '../../contract/defined';
import { HoldfastError, codeOf } from '../../contract/errors';
import { limits } from '../../contract/limits';
import { runIdOf } from '../../contract/names';
import type { AgentRunInput } from '../../contract/record/wire';
import type { ListedSchedule, ScheduleSpec, ScheduledStart, ShownSchedule } from '../../contract/schedules';
import type { Authority, RunForCaller } from '../connection/authority';
import type { OpenWork } from '../connection/open-work';
import { optionsOf } from '../connection/options';
import type { ListTime } from '../listing/list-options';
import { listTime, timeOf } from '../listing/list-options';
import type { AppliedAct } from './apply-schedules';
import { applySchedule, changeOf, mostRounds } from './apply-schedules';
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
      const { by, proof } = this.acting.author({});
      await this.check('runs:start', name, spec.start, by);
      const wanted = wantedSchedule(name, spec, this.owner, { source: 'api', ...defined({ by, proof }) });
      for (let round = 0; round < mostRounds; round++) {
        const now = await this.server.find(name);
        if (now !== undefined) await this.check('runs:start', name, startOf(now), now.mark.by);
        if (now?.mark.source === 'config')
          throw new HoldfastError('schedule-configured', `The schedule "${name}" is from the configuration.`);
        if (now === undefined) await this.server.create(name, wanted);
        else if (round > 0 && now.mark.hash === wanted.mark.hash) return shown(now);
        else await this.server.update(name, changeOf(wanted));
      }
      throw new HoldfastError('server-busy', `The schedule "${name}" is changed all the time by others.`);
    });
  }

  pause(name: string, note = 'paused'): Promise<void> {
    return this.work.wait(async () => {
      optionsOf({ note }, 'pause', { note: filled });
      await this.known(name, 'runs:control');
      await this.server.on(name, (handle) => handle.pause(this.acting.signed(note)));
    });
  }

  resume(name: string): Promise<void> {
    return this.work.wait(async () => {
      await this.known(name, 'runs:control');
      await this.server.on(name, (handle) => handle.unpause(this.acting.signed('resumed')));
    });
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
    return this.work.wait(async () => {
      await this.known(name, 'runs:control');
      await this.server.on(name, (handle) => handle.delete());
    });
  }

  /**
   * Makes the schedules of the configuration, and pauses schedules that it no longer has. Leaves schedules of `set`.
   */
  apply(specs: Readonly<Record<string, ScheduleSpec>>): Promise<Readonly<Record<string, AppliedAct>>> {
    return this.work.wait(async () => {
      const acts: Record<string, AppliedAct> = {};
      for (const [name, spec] of Object.entries(specs)) checkSchedule(name, spec);
      for (const name of new Set([...Object.keys(specs), ...this.applied, ...(await this.server.names())])) {
        const spec = Object.hasOwn(specs, name) ? specs[name] : undefined;
        const wanted = spec === undefined ? undefined : wantedSchedule(name, spec, this.owner, { source: 'config' });
        const act = await applySchedule(this.server, name, wanted, this.owner.taskQueue).catch((error: unknown) => {
          if (wanted === undefined) return withoutUnknown(error);
          throw error;
        });
        if (act !== undefined && (act !== 'same' || wanted !== undefined)) acts[name] = act;
        if (wanted !== undefined) this.applied.add(name);
      }
      return acts;
    });
  }

  private async known(name: string, action: Action): Promise<StoredSchedule> {
    this.acting.permit(action);
    const found = await this.server.find(name);
    if (found === undefined) throw unknownSchedule(name);
    await this.check(action, name, startOf(found), found.mark.by);
    return found;
  }

  private check(action: Action, name: string, start: ScheduledStart, by: string | undefined): Promise<void> {
    return this.acting.checkRun(action, runOf(name, start, by), () => unknownSchedule(name));
  }
}

function withoutUnknown(error: unknown): undefined {
  if (codeOf(error) !== 'schedule-unknown') throw error;
}

function runOf(name: string, { agent, tags = [] }: ScheduledStart, by = `schedule:${name}`): RunForCaller {
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

function startOf({ action, mark }: StoredSchedule): ScheduledStart {
  const { start } = action.args?.[0] as AgentRunInput & { readonly start: ScheduledStart };
  const { agent, input, tags = [], values = {}, model } = start;
  return {
    agent,
    input,
    ...(tags.length === 0 ? {} : { tags }),
    ...(Object.keys(values).length === 0 ? {} : { values }),
    ...defined({ model, deadline: mark.deadline }),
  };
}

function listed(stored: StoredSchedule): ListedSchedule {
  const { name, mark, state, info } = stored;
  const { hash: _hash, proof: _proof, paused: _paused, note: _note, deadline: _deadline, by, ...spec } = mark;
  return {
    name,
    agent: startOf(stored).agent,
    ...spec,
    ...defined({ setBy: by, note: state.note === '' ? undefined : state.note }),
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
  return { ...listed(stored), start: startOf(stored) };
}
