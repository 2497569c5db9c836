import type { ModelPrices } from '../../contract/prices';
import { costOf } from '../../contract/prices';
import { now } from '../data/clock';
import { visibleText } from '../parts/plain-text';
import { Badge } from '../parts/status-badge';
import { absoluteText, durationText } from '../parts/time';
import { hrefOf } from '../routes';
import { runTexts } from '../texts/run';
import { changedByText } from './changes';
import { costOfCall, costText, numberText } from './numbers';
import type { TimedStep } from './entries';

interface StepRowProps {
  readonly step: TimedStep;
  readonly prices: ModelPrices;
  readonly isInner: boolean;
  readonly isChosen: boolean;
  readonly isOpen: boolean;
  readonly range: readonly [number, number];
  readonly onOpen: () => void;
}

const barKinds = { model: '', tool: 'good', wait: 'warn', turn: 'info', mark: '', agent: '' };

export function StepRow({ step, prices, isInner, isChosen, isOpen, range: [first, last], onOpen }: StepRowProps) {
  const { kind, title, depth, start, end, error, run, address } = step;
  const till = end ?? Math.max(start, now.value);
  const left = (100 * (start - first)) / (last - first);
  const width = Math.max(0.4, (100 * (till - start)) / (last - first));
  const look = kind === 'mark' ? ' muted' : kind === 'turn' ? ' strong' : '';
  const name = (
    <>
      {run !== undefined && <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span>}
      <span class="kind fixed muted">{runTexts.kinds[kind]}</span>
      <bdi class={`named cut${look}`}>{visibleText(title)}</bdi>
    </>
  );
  return (
    <div class={`step-row ${kind}${isChosen ? ' chosen' : ''}${isInner ? ' inner' : ''}`}>
      <div class="flow" style={{ paddingLeft: `${Math.min(depth, 6) * 0.9}rem` }}>
        {run !== undefined || address !== undefined ? (
          <button
            type="button"
            class="step-button bare flow"
            aria-expanded={run === undefined ? undefined : isOpen}
            aria-label={run === undefined ? undefined : runTexts.openLane(visibleText(title))}
            title={address === undefined ? undefined : visibleText(address)}
            onClick={onOpen}
          >
            {name}
          </button>
        ) : (
          <span class="step-button bare flow">{name}</span>
        )}
        {run !== undefined && (
          <a href={hrefOf('runs', run)} aria-label={runTexts.openRun} title={runTexts.openRun}>
            ↗
          </a>
        )}
      </div>
      <div class="step-bar" title={`${absoluteText(start)} · ${durationText(till - start)}`}>
        <span
          class={`bar ${kind} ${error === undefined ? barKinds[kind] : 'bad'}${end === undefined ? ' open' : ''}`}
          style={{ left: `${left}%`, width: `${Math.min(width, 100 - left)}%` }}
        />
      </div>
      <StepFacts step={step} prices={prices} took={till - start} />
    </div>
  );
}

function StepFacts({ step, prices, took }: Pick<StepRowProps, 'step' | 'prices'> & { readonly took: number }) {
  const { kind, usage, usageByModel, model, error, retries, changes, ending, waited } = step;
  const cost = usageByModel !== undefined ? costOf({ usageByModel }, prices) : costOfCall(model, usage, prices);
  return (
    <div class="step-facts flow numbers small muted">
      {retries !== undefined && <Sign sign={`↻ ${retries}`} means={runTexts.timeline.retries(retries)} />}
      {waited !== undefined && <Sign sign="⧖" means={runTexts.timeline.waited(durationText(waited.turnMs), durationText(waited.busyMs))} />}
      {changes !== undefined && <Sign sign="✎" means={changedByText(changes)} />}
      {error !== undefined && (
        <span title={visibleText(error.message.slice(0, 500))}>
          <Badge kind="bad">{visibleText(error.code)}</Badge>
        </span>
      )}
      {ending !== undefined && <bdi class="named cut">{visibleText(ending)}</bdi>}
      {usage !== undefined && (
        <span title={runTexts.timeline.tokensTitle(numberText(usage.inputTokens), numberText(usage.outputTokens))}>
          {runTexts.timeline.tokens(numberText(usage.inputTokens + usage.outputTokens))}
        </span>
      )}
      {cost !== undefined && (
        <span class="step-cost" title={cost.complete ? runTexts.timeline.costTitle : runTexts.timeline.costPartTitle}>
          {costText(cost.amount)}
          {cost.complete ? '' : '+'}
        </span>
      )}
      {kind !== 'mark' && <span class="step-time">{durationText(took)}</span>}
    </div>
  );
}

function Sign({ sign, means }: { readonly sign: string; readonly means: string }) {
  return (
    <span title={means} role="img" aria-label={means}>
      {sign}
    </span>
  );
}
