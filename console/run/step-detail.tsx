import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RunCall } from '../../client/http/index';
import { service } from '../data/service';
import { IconButton } from '../parts/button';
import { CopyButton } from '../parts/copy-button';
import { ErrorNote } from '../parts/error-note';
import { Named } from '../parts/said';
import { StatusBadge } from '../parts/status-badge';
import { Time, durationText } from '../parts/time';
import { runTexts } from '../texts/run';
import { stepTexts as words } from '../texts/step';
import { ChangedBy } from './changes';
import { ModelDetail, ToolDetail } from './call-detail';
import { FailurePart } from './failure';

interface StepDetailProps {
  readonly id: string;
  readonly address: string;
  /** Changes with the log, so that an open call is read again. */
  readonly version: number;
  readonly onClose: () => void;
  readonly onMove: (by: 1 | -1) => void;
}

export function StepDetail({ id, address, version, onClose, onMove }: StepDetailProps) {
  const [found, setCall] = useState<RunCall | undefined>(undefined);
  // The previous call must not stand under the new address.
  const call = found?.address === address ? found : undefined;
  const [error, setError] = useState<unknown>(undefined);
  const [tries, setTries] = useState(0);
  const panel = useRef<HTMLElement>(null);
  const isOver = call?.endedAt !== undefined && (call.status !== 'completed' || call.changes !== undefined);
  useEffect(() => {
    let isStale = false;
    service.call(id, address).then(
      (answer) => {
        if (isStale) return;
        setCall(answer);
        setError(undefined);
      },
      (failed: unknown) => !isStale && setError(failed),
    );
    return () => void (isStale = true);
  }, [id, address, tries, isOver ? 0 : version]);
  useLayoutEffect(() => panel.current?.focus(), [address]);
  return (
    <aside ref={panel} class="run-aside step-detail" aria-label={words.title} tabIndex={-1}>
      <header class="flow">
        <div class="flow grow">
          <h2>
            <Named text={call === undefined ? words.title : call.kind === 'model' ? call.agent : call.tool} />
          </h2>
          {call !== undefined && <StatusBadge status={call.status} />}
        </div>
        <IconButton label={words.before} shortcut="k" onClick={() => onMove(-1)}>
          ↑
        </IconButton>
        <IconButton label={words.after} shortcut="j" onClick={() => onMove(1)}>
          ↓
        </IconButton>
        <IconButton label={words.close} icon="close" onClick={onClose} />
      </header>
      <p class="flow muted">
        <Named isMono text={address} />
        <CopyButton text={address} />
      </p>
      {error !== undefined && <ErrorNote error={error} onRetry={() => setTries(tries + 1)} />}
      {call === undefined && error === undefined && <p class="muted">{words.loading}</p>}
      {call !== undefined && (
        <>
          <p class="muted">
            <Time at={call.startedAt} />
            {call.endedAt !== undefined && <> · {durationText(call.endedAt - call.startedAt)}</>}
            {call.attempts !== undefined && call.attempts > 1 && <> · {words.attempts(call.attempts)}</>}
          </p>
          {call.changes !== undefined && <ChangedBy changes={call.changes} />}
          {call.lastFailure !== undefined && <FailurePart title={runTexts.lastFailure} failure={call.lastFailure} />}
          {call.kind === 'model' ? <ModelDetail id={id} call={call} /> : <ToolDetail call={call} />}
        </>
      )}
    </aside>
  );
}
