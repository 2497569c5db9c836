import type { ComponentChildren } from 'preact';

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
