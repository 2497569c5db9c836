import type { ComponentChildren, JSX } from 'preact';
import type { ShownBatch } from '../../client/http/index';
import { batchTag } from '../../contract/batches';
import type { KeptDelivery } from '../../contract/deliveries';
import type { Failure } from '../../contract/messages/messages';
import type { ListedNotice } from '../../contract/notices';
import type { ListedSchedule } from '../../contract/schedules';
import { useBatches, useNotices, useSchedules, useTriggers } from '../data/automation';
import { now } from '../data/clock';
import { may } from '../data/identity';
import { service } from '../data/service';
import { Copied } from '../parts/copy-button';
import { FailureLine } from '../parts/error-note';
import { filled, visibleText } from '../parts/plain-text';
import { Named, Said, StrongName } from '../parts/said';
import { Badge, StatusBadge } from '../parts/status-badge';
import { Table } from '../parts/table';
import { Time, absoluteText } from '../parts/time';
import { toast } from '../parts/toast';
import { goTo, hrefOf, route } from '../routes';
import { automationTexts as words } from '../texts/automation';
import type { ActRow } from './act-table';
import { ActTable } from './act-table';

export function Schedules() {
  const { value, error } = useSchedules();
  return <ActTable {...words.schedules} rows={value?.map(rowOfSchedule)} error={error} needs="runs:control" />;
}

const mostShown = 3;

function rowOfSchedule(schedule: ListedSchedule): ActRow {
  const { name, agent, source, setBy, cron, every = '', zone = 'UTC', overlap, paused, runs, skipped, missed } = schedule;
  const links = runs
    .slice(0, mostShown)
    .map(({ id, at }) =>
      noted(schedule.batch === undefined ? <RunLink run={id} /> : <a href={runsOfBatch(id)} children={id} />, <Time at={at} />),
    );
  const cells = [
    noted(
      <StrongName text={name} />,
      `${visibleText(agent)}, ${source === 'config' ? words.fromFile : words.setBy(visibleText(setBy ?? ''))}`,
    ),
    noted(cron === undefined ? words.every(every) : `${cron} ${visibleText(zone)}`, words.overlap(overlap)),
    <NextTimes {...schedule} />,
    noted(runs.length === 0 ? words.none : links, skipped + missed > 0 && words.leftOut(skipped, missed)),
  ];
  const runNow = {
    verb: words.runNow,
    act: () => service.runSchedule(name).then(() => toast(words.runs(name), { kind: 'good' })),
  };
  const pause = {
    verb: words.pause,
    asks: { text: words.pauseText, note: words.note },
    act: ({ note }: { readonly note: string }) => service.pauseSchedule(name, filled({ note })),
  };
  const resume = { verb: words.resume, act: () => service.resumeSchedule(name) };
  return { key: name, name, cells, acts: [...(may('runs:start') ? [runNow] : []), paused ? resume : pause] };
}

function NextTimes({ paused, note = '', next }: ListedSchedule) {
  if (paused) return noted(<Badge kind="warn">{words.paused}</Badge>, visibleText(note));
  if (next.length === 0) return <span class="muted">{words.none}</span>;
  return <div>{next.slice(0, mostShown).map((at) => noted(absoluteText(Date.parse(at)), <Time at={at} />))}</div>;
}

export function Triggers() {
  const { value, error } = useTriggers();
  const triggers = value?.map(({ name, from }) => ({
    key: name,
    cells: [<StrongName text={name} />, from, <Copied text={`${location.origin}/v1/triggers/${name}`} />],
  }));
  const kept = value?.flatMap(({ name, deliveries }) => deliveries.map((one) => rowOfDelivery(name, one)));
  return (
    <>
      {triggers !== undefined && <Table {...words.triggers} rows={triggers} />}
      <ActTable {...words.deliveries} rows={kept} error={error} more={value?.some(({ more }) => more)} needs="runs:start" />
    </>
  );
}

function rowOfDelivery(trigger: string, { id, at, problem, payload }: KeptDelivery): ActRow {
  const cells = [
    noted(<Named isMono text={id} />, <Time at={at} />),
    <Named text={trigger} />,
    problem === undefined ? words.brokeOff : <Problem {...problem} />,
    <details>
      <summary>{words.show}</summary>
      <Said isMono text={payload} />
    </details>,
  ];
  const replay = { verb: words.replay, act: () => replayed(trigger, id) };
  const drop = { verb: words.drop, asks: { text: words.dropDelivery }, act: () => service.dropDelivery(trigger, id) };
  return { key: `${trigger} ${id}`, name: id, cells, acts: [replay, drop] };
}

async function replayed(trigger: string, id: string): Promise<void> {
  const outcome = await service.replayDelivery(trigger, id);
  if ('kept' in outcome) toast(words.stillKept(id), { kind: 'bad' });
  else if ('ignored' in outcome) toast(words.ignored(id));
  else toast(words.started(outcome.run), { kind: 'good', action: { label: words.openRun, act: () => goTo('runs', outcome.run) } });
}

export function Batches() {
  const after = route.value.query.get('after') ?? undefined;
  const { value, error } = useBatches(after);
  return (
    <>
      <ActTable {...words.batches} rows={value?.batches.map(rowOfBatch)} error={error} needs="runs:control" />
      <p class="flow">
        {after !== undefined && <a href={hrefOf('automation', undefined, { tab: 'batches' })}>{words.newest}</a>}
        {value?.next !== undefined && <a href={hrefOf('automation', undefined, { tab: 'batches', after: value.next })}>{words.older}</a>}
      </p>
    </>
  );
}

const runsOfBatch = (id: string, query: { readonly status?: string } = {}): string =>
  hrefOf('runs', undefined, { tag: batchTag(id), ...query });

const statuses = ['running', 'waiting', 'completed', 'failed', 'cancelled'] as const;

function rowOfBatch({ id, agent, status, startedAt, closedAt, startedBy, lines, counts, ...batch }: ShownBatch): ActRow {
  const ended = counts.completed + counts.failed + counts.cancelled + counts.refused;
  const tookMs = (closedAt === undefined ? now.value : Date.parse(closedAt)) - Date.parse(startedAt);
  const problem = batch.error ?? batch.problem;
  const links = statuses.map(
    (one) =>
      counts[one] > 0 && (
        <a href={runsOfBatch(id, { status: one })}>
          <StatusBadge status={one} /> {counts[one].toLocaleString()}
        </a>
      ),
  );
  const cells = [
    noted(
      <a href={runsOfBatch(id)} children={<StrongName text={id} />} />,
      `${visibleText(agent)}, ${words.by(visibleText(startedBy ?? ''))}, `,
      <Time at={startedAt} />,
    ),
    noted(<StatusBadge status={status} />, problem && <Problem {...problem} />),
    noted(<progress max={lines} value={ended} aria-label={words.of(words.progress, id)} />, words.ended(ended, lines)),
    <div class="flow wrap">
      {links} {counts.refused > 0 && <Badge kind="bad">{words.refused(counts.refused)}</Badge>}
      <a href={`/batches/${encodeURIComponent(id)}/results`} download={`${id}.jsonl`} children={words.results} />
    </div>,
    noted(words.perMinute((60_000 * ended) / Math.max(tookMs, 1_000)), words.limits(batch.concurrency, batch.perMinute)),
  ];
  const stop = {
    verb: words.stop,
    asks: { text: words.stopText, check: words.cancelRuns },
    act: ({ isChecked: cancelRuns }: { readonly isChecked: boolean }) => service.stopBatch(id, { cancelRuns }),
  };
  return { key: id, name: id, cells, acts: status === 'running' ? [stop] : [] };
}

export function Notices() {
  const { value, error } = useNotices();
  return <ActTable {...words.notices} more={value?.more} rows={value?.notices.map(rowOfNotice)} error={error} needs="runs:control" />;
}

function rowOfNotice({ id, to, type, run, agent, at, state, attempts, problem }: ListedNotice): ActRow {
  const cells = [
    noted(<RunLink run={run} />, `${type}, ${visibleText(agent)}, `, <Time at={at} />),
    <span class="mono breaks">{visibleText(to)}</span>,
    noted(<Badge kind={state === 'pending' ? 'info' : 'bad'}>{state}</Badge>, words.attempts(attempts)),
    problem && <Problem {...problem} />,
  ];
  const send = { verb: words.send, act: () => service.sendNotice(id).then(() => toast(words.sent, { kind: 'good' })) };
  const drop = { verb: words.drop, asks: { text: words.dropNotice }, act: () => service.dropNotice(id) };
  return { key: id, name: `${type} ${run}`, cells, acts: state === 'pending' ? [] : [send, drop] };
}

function noted(main: ComponentChildren, ...notes: readonly ComponentChildren[]): JSX.Element {
  return (
    <div class="numbers breaks">
      {main}
      <small class="muted">{notes}</small>
    </div>
  );
}

function RunLink({ run }: { readonly run: string }) {
  return (
    <a href={hrefOf('runs', run)}>
      <Named isMono text={run} />
    </a>
  );
}

function Problem({ code, message }: Failure) {
  return (
    <div>
      <Said text={message} />
      <FailureLine code={code} />
    </div>
  );
}
