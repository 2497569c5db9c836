import type { ErrorCode } from '../../contract/errors';
import { codeOf, isErrorCode, messageOf } from '../../contract/errors';
import { texts } from '../texts';
import { Button } from './button';
import { lazy } from './lazy';
import { visibleText } from './plain-text';
import type { ComponentChildren } from 'preact';

/** The advice loads as a script of its own. */
export const ErrorFix = lazy<{ readonly code: ErrorCode }>(
  async () => {
    const { errorTable } = await import('../../contract/error-table');
    return ({ code }) => <>{errorTable[code].fix}</>;
  },
  <>…</>,
);

export function ErrorNote({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const code = codeOf(error);
  return (
    <div class="error-note panel stack breaks" role="alert">
      <p>
        {code !== undefined && <code>{code}</code>} <bdi>{visibleText(messageOf(error))}</bdi>
      </p>
      {code !== undefined && (
        <p class="muted">
          {texts.parts.errorFix}: <ErrorFix code={code} />
        </p>
      )}
      {onRetry !== undefined && <Button onClick={onRetry}>{texts.parts.again}</Button>}
    </div>
  );
}

export function FailureLine({ code }: { readonly code: string }) {
  return (
    <p class="muted">
      <code>{visibleText(code)}</code>
      {isErrorCode(code) && (
        <>
          {' '}
          <ErrorFix code={code} />
        </>
      )}
    </p>
  );
}

export function NoAnswer({ error }: { readonly error: unknown }) {
  return error === undefined ? <p class="muted">{texts.parts.loading}</p> : <ErrorNote error={error} />;
}

export function NoPage({ error }: { readonly error: unknown }) {
  return (
    <div class="padded">
      <NoAnswer error={error} />
    </div>
  );
}

interface EmptyStateProps {
  readonly title: string;
  readonly text?: string;
  readonly children?: ComponentChildren;
}

export function EmptyState({ title, text, children }: EmptyStateProps) {
  return (
    <div class="empty stack muted">
      <h2 class="breaks">{title}</h2>
      {text !== undefined && <p>{text}</p>}
      {children}
    </div>
  );
}
