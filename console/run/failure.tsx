import type { ThrownFailure } from '../../client/http/index';
import { FailureLine } from '../parts/error-note';
import { Said } from '../parts/said';
import { runTexts } from '../texts/run';

/** The call is repeated without a person. */
const calm: ReadonlySet<string> = new Set(['attempt-lost', 'waiting-for-turn']);

export function FailurePart({ failure, title }: { readonly failure: ThrownFailure; readonly title?: string }) {
  return (
    <div class={calm.has(failure.code) ? 'failure edged calm' : 'failure edged bad'}>
      {title !== undefined && <strong>{title}</strong>}
      <Said text={failure.message} />
      <FailureLine code={failure.code} />
      {failure.stack !== undefined && (
        <details>
          <summary>{runTexts.stack}</summary>
          <Said isMono text={failure.stack} />
        </details>
      )}
    </div>
  );
}
