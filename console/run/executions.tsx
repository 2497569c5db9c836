import type { JSX } from 'preact';
import type { RunExecution } from '../../http/index';
import { CopyButton } from '../parts/copy-button';
import { Dialog } from '../parts/dialog';
import { Fact } from '../parts/fact';
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

export function ExecutionRow({ execution: { title, startedAt, execution }, onOpen }: ExecutionRowProps): JSX.Element {
  return (
    <div class="step-row execution">
      <div class="flow">
        <button type="button" class="step-button bare flow" title={absoluteText(startedAt)} onClick={onOpen}>
          <span class="kind">{runTexts.kinds.execution}</span>
          <span class="named cut">{title}</span>
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

export function ExecutionDialog({ shown: { title, execution }, onClose }: ExecutionDialogProps): JSX.Element {
  const { temporalRunId, build, startedAt, closedAt, error } = execution;
  return (
    <Dialog isWide title={title} onClose={onClose}>
      <dl class="facts">
        <Copied name={words.id} text={temporalRunId} />
        {build !== undefined && <Copied name={words.build} text={build} />}
        <Fact name={words.began}>
          <Time at={startedAt} />
        </Fact>
        {closedAt !== undefined && (
          <Fact name={words.closed}>
            <Time at={closedAt} />
          </Fact>
        )}
      </dl>
      {error !== undefined && <FailurePart title={words.failed} failure={error} />}
    </Dialog>
  );
}

function Copied({ name, text }: { readonly name: string; readonly text: string }): JSX.Element {
  return (
    <Fact name={name}>
      <span class="copied mono">
        {visibleText(text)} <CopyButton text={text} />
      </span>
    </Fact>
  );
}
