import type { JSX } from 'preact';
import type { ErrorCode } from '../../contract/errors';
import { codeOf, messageOf } from '../../contract/errors';
import { texts } from '../texts';
import { lazy } from './lazy';
import { visibleText } from './plain-text';

/** What to change after an error. The texts of all errors are a script of their own. */
export const ErrorFix = lazy<{ readonly code: ErrorCode }>(
  async () => {
    const { errorTable } = await import('../../contract/error-table');
    return ({ code }) => <>{errorTable[code].fix}</>;
  },
  <>…</>,
);

interface ErrorNoteProps {
  readonly error: unknown;
  readonly onRetry?: () => void;
}

/** What failed, its code, and what to change. */
export function ErrorNote({ error, onRetry }: ErrorNoteProps): JSX.Element {
  const code = codeOf(error);
  return (
    <div class="error-note" role="alert">
      <p>
        {code !== undefined && <code>{code}</code>} <bdi>{visibleText(messageOf(error))}</bdi>
      </p>
      {code !== undefined && (
        <p class="muted">
          {texts.parts.errorFix}: <ErrorFix code={code} />
        </p>
      )}
      {onRetry !== undefined && (
        <button type="button" class="button" onClick={onRetry}>
          {texts.parts.again}
        </button>
      )}
    </div>
  );
}
