import type { RunExecution } from '../../client/http/index';
import { Copied } from '../parts/copy-button';
import { Dialog } from '../parts/dialog';
import { Facts } from '../parts/json-view';
import { visibleText } from '../parts/plain-text';
import { Badge } from '../parts/status-badge';
import { Time, absoluteText } from '../parts/time';
import { runTexts } from '../texts/run';
import { FailurePart } from './failure';

const words = runTexts.execution;

export interface ShownExecution {
  readonly key: string;
  readonly title: string;
  readonly startedAt: number;
  readonly execution: RunExecution;
}

export function shownExecutions(executions: readonly RunExecution[]): readonly ShownExecution[] {
  return executions.map((execution, at) => ({
    key: `execution ${execution.temporalRunId}`,
    title: titleOf(execution, executions[at - 1]?.build),
    startedAt: Date.parse(execution.startedAt),
    execution,
  }));
}

function titleOf({ began, build: whole }: RunExecution, before: string | undefined): string {
  const build = whole === undefined ? undefined : visibleText(whole.slice(0, 12));
  const isMoved = whole !== undefined && before !== undefined && whole !== before;
  if (began === 'started') return words.started(build);
  if (began === 'went-on') return words['went-on'](isMoved ? build : undefined);
  return isMoved && build !== undefined ? words.moved(build) : words.continued;
}

interface ExecutionRowProps {
  readonly execution: ShownExecution;
  readonly onOpen: () => void;
}

export function ExecutionRow({ execution: { title, startedAt, execution }, onOpen }: ExecutionRowProps) {
  return (
    <div class="step-row execution">
      <div class="flow">
        <button type="button" class="step-button bare flow" title={absoluteText(startedAt)} onClick={onOpen}>
          <span class="kind fixed muted">{runTexts.kinds.execution}</span>
          <span class="named cut strong">{title}</span>
        </button>
      </div>
      <div class="step-facts flow numbers small muted">
        {execution.error !== undefined && <Badge kind="bad">{visibleText(execution.error.code)}</Badge>}
      </div>
    </div>
  );
}

interface ExecutionDialogProps {
  readonly shown: ShownExecution;
  readonly onClose: () => void;
}

export function ExecutionDialog({ shown: { title, execution }, onClose }: ExecutionDialogProps) {
  const { temporalRunId, build, startedAt, closedAt, error } = execution;
  return (
    <Dialog isWide title={title} onClose={onClose}>
      <Facts
        facts={[
          [words.id, <Copied text={temporalRunId} />],
          [runTexts.build, build && <Copied text={build} />],
          [runTexts.began, <Time at={startedAt} />],
          [words.closed, closedAt && <Time at={closedAt} />],
        ]}
      />
      {error !== undefined && <FailurePart title={words.failed} failure={error} />}
    </Dialog>
  );
}
