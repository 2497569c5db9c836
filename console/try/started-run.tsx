import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { isEnded } from '../../contract/events';
import type { ShownRun, StartedRun } from '../../http/index';
import { usePoll } from '../data/live';
import { service } from '../data/service';
import { Named, Said } from '../parts/said';
import { StatusBadge } from '../parts/status-badge';
import { hrefOf } from '../routes';
import { tryTexts } from '../texts/try';

export function StartedLine({ run: { id, isNew, ignored } }: { readonly run: StartedRun }): JSX.Element {
  const [ended, setEnded] = useState<ShownRun>();
  return (
    <li class="flow wrap">
      {isNew ? tryTexts.isNew : tryTexts.wasThere}{' '}
      <a href={hrefOf('runs', id)}>
        <Named isMono text={id} />
      </a>
      {ended === undefined ? <OpenRun id={id} onEnded={setEnded} /> : <Standing run={ended} />}
      {ignored !== undefined && <span class="muted"> {tryTexts.ignored(ignored.join(', '))}</span>}
    </li>
  );
}

function OpenRun({ id, onEnded }: { readonly id: string; readonly onEnded: (run: ShownRun) => void }): JSX.Element | null {
  const run = usePoll(`started ${id}`, () => service.view(id)).value;
  useEffect(() => {
    if (run !== undefined && isEnded(run.status)) onEnded(run);
  }, [run]);
  return run === undefined ? null : <Standing run={run} />;
}

function Standing({ run: { status, text, output, error } }: { readonly run: ShownRun }): JSX.Element {
  const result = error?.message ?? text ?? (output === undefined ? undefined : JSON.stringify(output));
  return (
    <>
      <StatusBadge status={status} />
      {isEnded(status) && result !== undefined && <Said text={result} />}
    </>
  );
}
