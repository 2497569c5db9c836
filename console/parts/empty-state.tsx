import type { ComponentChildren, JSX } from 'preact';

export function EmptyState({ title, children }: { readonly title: string; readonly children?: ComponentChildren }): JSX.Element {
  return (
    <div class="empty stack">
      <h2>{title}</h2>
      {children}
    </div>
  );
}
