import type { JSX } from 'preact';
import { isEnded } from '../../contract/events';
import { workflowIdOf } from '../../contract/names';
import { noWorkerText } from '../../contract/no-worker';
import { rootRunId } from '../../contract/record/child-runs';
import { now } from '../data/clock';
import { useFacts } from '../data/facts';
import type { ShownRun } from '../../http/index';
import { CopyButton } from '../parts/copy-button';
import { Fact } from '../parts/fact';
import { OutsideLink } from '../parts/link';
import { visibleText } from '../parts/plain-text';
import { Named } from '../parts/said';
import { Badge, StatusBadge } from '../parts/status-badge';
import { Tag } from '../parts/tag';
import { Time, durationText } from '../parts/time';
import { hrefOf } from '../routes';
import { runTexts } from '../texts/run';
import { RunActions } from './actions';
import { FailurePart } from './failure';
import { costText, numberText } from './numbers';

const words = runTexts.detail;

export function RunHeader({ view, onDone }: { readonly view: ShownRun; readonly onDone: () => void }): JSX.Element {
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
          <FailurePart failure={why} title={words.lastFailure} />
        </div>
      ))}
    </header>
  );
}

function RunFacts({ view }: { readonly view: ShownRun }): JSX.Element {
  const { id, agent, startedAt, closedAt, tags = [], startedBy, build, usage, cost, conversation } = view;
  const root = rootRunId(id);
  return (
    <dl class="run-facts">
      {conversation?.title !== undefined && <Fact name={runTexts.agent}>{visibleText(agent)}</Fact>}
      {startedAt !== undefined && (
        <Fact name={runTexts.began}>
          <Time at={startedAt} />
        </Fact>
      )}
      {startedAt !== undefined && (
        <Fact name={runTexts.took}>
          {durationText(Math.max(0, (closedAt === undefined ? now.value : Date.parse(closedAt)) - Date.parse(startedAt)))}
        </Fact>
      )}
      {startedBy !== undefined && <Fact name={runTexts.by}>{visibleText(startedBy)}</Fact>}
      {root !== id && (
        <Fact name={runTexts.partOf}>
          <a href={hrefOf('runs', root)}>{visibleText(root)}</a>
        </Fact>
      )}
      <Fact name={runTexts.tokens}>{runTexts.tokensOf(numberText(usage.inputTokens), numberText(usage.outputTokens))}</Fact>
      {cost !== undefined && (
        <Fact name={runTexts.cost}>
          {costText(cost.amount)}
          {!cost.complete && <span class="muted"> {visibleText(runTexts.costPart((cost.unpriced ?? []).join(', ')))}</span>}
        </Fact>
      )}
      {build !== undefined && (
        <Fact name={runTexts.build}>
          <span class="mono">{visibleText(build.slice(0, 12))}</span>
        </Fact>
      )}
      {tags.length > 0 && (
        <Fact name={runTexts.tags}>
          {tags.map((tag) => (
            <Tag key={tag} text={tag} />
          ))}
        </Fact>
      )}
    </dl>
  );
}

function TemporalLink({ id }: { readonly id: string }): JSX.Element | null {
  const facts = useFacts().value;
  if (facts?.temporalUi === undefined) return null;
  const { temporalUi, namespace, tenant } = facts;
  const href = temporalUi
    .replaceAll('{namespace}', encodeURIComponent(namespace))
    .replaceAll('{workflowId}', encodeURIComponent(workflowIdOf(tenant, id)));
  return <OutsideLink href={href}>{runTexts.temporal}</OutsideLink>;
}
