import { useEffect, useMemo, useState } from 'preact/hooks';
import { now } from '../data/clock';
import { RunFeed } from '../data/run-feed';
import { useExecutions, usePrices } from '../data/facts';
import { SearchField } from '../parts/fields';
import { durationText } from '../parts/time';
import { VirtualList } from '../parts/virtual-list';
import { runTexts } from '../texts/run';
import type { ShownExecution } from './executions';
import { ExecutionDialog, ExecutionRow, shownExecutions } from './executions';
import { StepRow } from './step-row';
import type { TimedStep } from './entries';
import { RunSteps } from './steps';

interface TimelineProps {
  readonly id: string;
  readonly steps: readonly TimedStep[];
  readonly version: number;
  readonly chosen: string | undefined;
  readonly onStep: (address: string, run?: string) => void;
}

interface LaneStep {
  readonly key: string;
  readonly step: TimedStep;
  readonly of?: string;
}

type TimelineRow = LaneStep | { readonly key: string; readonly execution: ShownExecution };

export function Timeline({ id, steps, version, chosen, onStep }: TimelineProps) {
  const [lane, setLane] = useState<string | undefined>(undefined);
  const [filter, setFilter] = useState('');
  const inLane = useLane(lane);
  const prices = usePrices();
  const found = useExecutions(id).value;
  const executions = useMemo(() => shownExecutions(found?.executions ?? []), [found]);
  const [opened, setOpened] = useState<ShownExecution | undefined>(undefined);
  const rows = useMemo(
    () => withExecutions(rowsOf(steps, lane, inLane, filter), executions, filter),
    [steps, version, executions, lane, inLane, inLane?.length, inLane?.at(-1)?.end, filter],
  );
  const count = rows.filter((row) => 'step' in row && row.step.kind !== 'mark' && row.step.kind !== 'turn').length;
  const first = steps[0]?.start ?? 0;
  const last = Math.max(first + 1, ...[...steps, ...(inLane ?? [])].map(({ end }) => end ?? now.value));
  return (
    <div class="timeline grow column">
      <div class="toolbar fixed flow wrap">
        <SearchField label={runTexts.timeline.filter} value={filter} onText={setFilter} />
        <span class="muted">{runTexts.timeline.steps(count)}</span>
        <span class="spacer" />
        <span class="muted">{durationText(last - first)}</span>
      </div>
      {found?.more === true && <p class="muted padded">{runTexts.execution.more}</p>}
      {rows.length === 0 ? (
        <p class="muted padded">{runTexts.timeline.empty}</p>
      ) : (
        <VirtualList
          items={rows}
          rowHeight={34}
          keyOf={({ key }) => key}
          label={runTexts.timeline.label}
          shownIndex={rows.findIndex((row) => 'step' in row && row.step.address !== undefined && row.step.address === chosen)}
          render={(row) =>
            'execution' in row ? (
              <ExecutionRow execution={row.execution} onOpen={() => setOpened(row.execution)} />
            ) : (
              <StepRow
                step={row.step}
                prices={prices}
                isInner={row.of !== undefined}
                isChosen={row.step.address !== undefined && row.step.address === chosen}
                range={[first, last]}
                isOpen={row.step.run !== undefined && row.step.run === lane}
                onOpen={() => {
                  if (row.step.run !== undefined) setLane(row.step.run === lane ? undefined : row.step.run);
                  else if (row.step.address !== undefined) onStep(row.step.address, row.of);
                }}
              />
            )
          }
        />
      )}
      {opened !== undefined && <ExecutionDialog shown={opened} onClose={() => setOpened(undefined)} />}
    </div>
  );
}

function useLane(run: string | undefined): readonly TimedStep[] | undefined {
  const log = useMemo(() => (run === undefined ? undefined : new RunFeed(run)), [run]);
  const made = useMemo(() => new RunSteps(), [run]);
  useEffect(() => {
    log?.open();
    return () => log?.close();
  }, [log]);
  if (log === undefined) return undefined;
  void log.drawn.value;
  return made.take(log.events).steps;
}

function rowsOf(
  steps: readonly TimedStep[],
  lane: string | undefined,
  inLane: readonly TimedStep[] | undefined,
  filter: string,
): readonly LaneStep[] {
  const asked = filter.trim().toLowerCase();
  const fits = ({ title, agent, kind, address = '' }: TimedStep): boolean =>
    asked === '' || [title, agent, kind, address].some((text) => text.toLowerCase().includes(asked));
  return steps.flatMap((step) => {
    const own = fits(step) ? [{ key: step.key, step }] : [];
    if (step.run === undefined || step.run !== lane || inLane === undefined) return own;
    const inside = inLane.filter(fits).map((inner) => ({ ...inner, depth: step.depth + 1 + inner.depth }));
    return [...own, ...inside.map((inner) => ({ key: `${lane} ${inner.key}`, step: inner, of: lane }))];
  });
}

function withExecutions(steps: readonly LaneStep[], executions: readonly ShownExecution[], filter: string): readonly TimelineRow[] {
  const asked = filter.trim().toLowerCase();
  const waiting = executions.filter(({ title }) => asked === '' || title.toLowerCase().includes(asked));
  const rows: TimelineRow[] = [];
  let next = 0;
  const upTo = (time: number): void => {
    for (let execution = waiting[next]; execution !== undefined && execution.startedAt <= time; execution = waiting[++next])
      rows.push({ key: execution.key, execution });
  };
  for (const row of steps) {
    if (row.of === undefined) upTo(row.step.start);
    rows.push(row);
  }
  upTo(Infinity);
  return rows;
}
