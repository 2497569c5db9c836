import { isEnded } from '../../contract/events';
import { workflowIdOf } from '../../contract/names';
import { noWorkerText } from '../../contract/no-worker';
import { rootRunId } from '../../contract/record/child-runs';
import { now } from '../data/clock';
import { useFacts } from '../data/facts';
import { CopyButton } from '../parts/copy-button';
import { Facts } from '../parts/json-view';
import { OutsideLink, Named } from '../parts/said';
import { visibleText } from '../parts/plain-text';
import { Badge, StatusBadge, Tags } from '../parts/status-badge';
import { Time, durationText } from '../parts/time';
import { hrefOf } from '../routes';
import { runTexts } from '../texts/run';
import type { ActionsProps } from './actions';
import { RunActions } from './actions';
import { FailurePart } from './failure';
import { costText, numberText } from './numbers';

export function RunHeader({ view, onDone }: ActionsProps) {
  const { id, agent, status, noWorker, error, retrying = [], conversation, cancelled } = view;
  return (
    <header class="run-header">
      <div class="run-title flow wrap">
        <h1>
          <Named text={conversation?.title ?? agent} />
        </h1>
        <StatusBadge status={status} />
        {conversation?.paused === true && <Badge kind="warn">{runTexts.composer.paused}</Badge>}
        <span class="spacer" />
        <RunActions view={view} onDone={onDone} />
      </div>
      <p class="flow muted">
        <Named isMono text={id} />
        <CopyButton text={id} /> <TemporalLink id={id} />
      </p>
      <RunFacts view={view} />
      {noWorker !== undefined && <p role="status">{noWorkerText(noWorker)}</p>}
      {error !== undefined && <FailurePart failure={error} />}
      {cancelled?.reason !== undefined && isEnded(status) && (
        <p class="muted">
          <bdi>{visibleText(cancelled.reason)}</bdi>
        </p>
      )}
      {retrying.map(({ address, attempt, nextAttemptAt, error: why }) => (
        <div key={address}>
          <p role="status">
            {runTexts.retrying(attempt, visibleText(address), nextAttemptAt <= now.value)} <Time at={nextAttemptAt} />
          </p>
          <FailurePart failure={why} title={runTexts.lastFailure} />
        </div>
      ))}
    </header>
  );
}

function RunFacts({ view }: Pick<ActionsProps, 'view'>) {
  const { id, agent, startedAt, closedAt, tags = [], startedBy, build, usage, cost, conversation } = view;
  const root = rootRunId(id);
  const end = closedAt === undefined ? now.value : Date.parse(closedAt);
  const unpriced = cost?.complete === false && runTexts.costPart((cost.unpriced ?? []).join(', '));
  return (
    <Facts
      class="run-facts"
      facts={[
        [runTexts.agent, conversation?.title !== undefined && agent],
        [runTexts.began, startedAt && <Time at={startedAt} />],
        [runTexts.took, startedAt && durationText(Math.max(0, end - Date.parse(startedAt)))],
        [runTexts.by, startedBy],
        [runTexts.partOf, root !== id && <a href={hrefOf('runs', root)}>{visibleText(root)}</a>],
        [runTexts.tokens, runTexts.tokensOf(numberText(usage.inputTokens), numberText(usage.outputTokens))],
        [
          runTexts.cost,
          cost && (
            <>
              {costText(cost.amount)}
              {unpriced && <span class="muted"> {visibleText(unpriced)}</span>}
            </>
          ),
        ],
        [runTexts.build, build && <span class="mono">{visibleText(build.slice(0, 12))}</span>],
        [runTexts.tags, tags.length > 0 && <Tags tags={tags} />],
      ]}
    />
  );
}

function TemporalLink({ id }: { readonly id: string }) {
  const facts = useFacts().value;
  if (facts?.temporalUi === undefined) return null;
  const { temporalUi, namespace, tenant } = facts;
  const href = temporalUi
    .replaceAll('{namespace}', encodeURIComponent(namespace))
    .replaceAll('{workflowId}', encodeURIComponent(workflowIdOf(tenant, id)));
  return <OutsideLink href={href}>{runTexts.temporal}</OutsideLink>;
}
