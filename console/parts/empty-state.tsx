import type { ComponentChildren, JSX } from 'preact';

/** What a page says when it has nothing, and what to do next. */
export function EmptyState({ title, children }: { readonly title: string; readonly children?: ComponentChildren }): JSX.Element {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}
