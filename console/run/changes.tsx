import type { MiddlewareChange } from '../../contract/middleware-changes';
import { visibleText } from '../parts/plain-text';
import { runTexts } from '../texts/run';

export function ChangedBy({ changes }: { readonly changes: readonly MiddlewareChange[] }) {
  return (
    <div class="changed-by edged info">
      <h3>{runTexts.changedBy}</h3>
      <ul>
        {changes.map(({ middleware, hook, changed, onWorker }) => (
          <li key={`${middleware} ${hook} ${String(onWorker)}`}>
            <strong>
              <bdi>{visibleText(middleware)}</bdi>
            </strong>{' '}
            {changed.join(', ')} <span class="muted mono">{hook}</span>
            {onWorker === true && <span class="muted"> {runTexts.onWorker}</span>}
          </li>
        ))}
      </ul>
      {changes.some(({ onWorker }) => onWorker) && <p class="muted">{runTexts.workerNote}</p>}
    </div>
  );
}

export function changedByText(changes: readonly MiddlewareChange[]): string {
  return `${runTexts.changedBy} ${changes.map(({ middleware }) => visibleText(middleware)).join(', ')}`;
}
