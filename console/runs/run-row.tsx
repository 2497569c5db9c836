import type { ListedRun } from '../../client/http/index';
import { visibleText } from '../parts/plain-text';
import { Named } from '../parts/said';
import { StatusBadge, Tags } from '../parts/status-badge';
import { Time, durationText } from '../parts/time';
import { hrefOf } from '../routes';
import { texts } from '../texts';
import { runsTexts } from '../texts/runs';
import { now } from '../data/clock';
import type { RunsItem } from './items';

interface RunRowProps {
  readonly item: RunsItem;
  readonly isCurrent: boolean;
  readonly isSelected: boolean;
  readonly onSelect: (id: string, isRange: boolean) => void;
  readonly onToggle: (id: string) => void;
}

const mostIndent = 6;

export function RunRow({ item, isCurrent, isSelected, onSelect, onToggle }: RunRowProps) {
  const indent = { paddingLeft: `${Math.min(item.depth, mostIndent) * 18}px` };
  if (item.kind === 'note')
    return (
      <div class="run-note full flow muted" style={indent}>
        {item.isLoading ? texts.parts.loading : runsTexts.noIsolated}
      </div>
    );
  const { run, isGone, isOpen, depth } = item;
  const classes = ['run-row full', run.status, isCurrent && 'current', isSelected && 'selected', isGone && 'gone']
    .filter(Boolean)
    .join(' ');
  const id = visibleText(run.id);
  return (
    <div class={classes} aria-current={isCurrent ? 'true' : undefined} title={isGone ? runsTexts.gone : undefined}>
      <span class="run-check">
        {depth === 0 && (
          <input
            type="checkbox"
            checked={isSelected}
            aria-label={texts.parts.select(id)}
            onClick={(event) => onSelect(run.id, event.shiftKey)}
          />
        )}
      </span>
      <span class="run-row-id flow" style={indent}>
        <button
          type="button"
          class="fold icon-button bare mini"
          aria-expanded={isOpen}
          aria-label={isOpen ? runsTexts.hideIsolated(id) : runsTexts.showIsolated(id)}
          title={isOpen ? runsTexts.hideIsolated(id) : runsTexts.showIsolated(id)}
          onClick={() => onToggle(run.id)}
        >
          {isOpen ? '▾' : '▸'}
        </button>
        <a href={hrefOf('runs', run.id)}>
          <Named isMono text={run.id} />
        </a>
      </span>
      <span class="run-status">
        <StatusBadge status={run.status} />
      </span>
      <span class="run-agent">
        <Named text={run.agent} />
      </span>
      <span class="run-what flow">
        <What run={run} />
      </span>
      <span class="run-by muted">{run.startedBy !== undefined && <Named text={run.startedBy} />}</span>
      <span class="run-when numbers small muted">
        <Time at={run.startedAt} />
      </span>
      <span class="run-took numbers small muted" title={runsTexts.tookTitle}>
        {durationText((run.closedAt === undefined ? now.value : Date.parse(run.closedAt)) - Date.parse(run.startedAt))}
      </span>
    </div>
  );
}

export function RunHeads() {
  return (
    <div class="run-heads small muted" aria-hidden="true">
      {runsTexts.heads.map((name) => (
        <span key={name}>{name}</span>
      ))}
    </div>
  );
}

function What({ run: { interrupts, waitingSince, tags } }: { readonly run: ListedRun }) {
  const [first] = interrupts;
  return (
    <>
      {first !== undefined && (
        <span class="run-waits" title={waitingSince === undefined ? undefined : runsTexts.since(new Date(waitingSince).toLocaleString())}>
          {runsTexts.waitsFor[first.kind]} <bdi>{visibleText(first.kind === 'approval' ? first.tool : first.agent)}</bdi>
          {interrupts.length > 1 && ` +${interrupts.length - 1}`}
        </span>
      )}
      <Tags tags={tags} />
    </>
  );
}
