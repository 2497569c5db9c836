import type { JSX } from 'preact';
import { Named } from './said';

const kinds: Readonly<Record<string, string>> = {
  running: 'info',
  waiting: 'warn',
  idle: 'calm',
  completed: 'good',
  failed: 'bad',
  cancelled: 'calm',
};

export function StatusBadge({ status }: { readonly status: string }) {
  return <Badge kind={kinds[status] ?? 'calm'}>{status}</Badge>;
}

export function Badge({ kind = 'calm', children }: { readonly kind?: string; readonly children: JSX.Element | string }) {
  return <span class={`badge fixed ${kind}`}>{children}</span>;
}

export function Tags({ tags }: { readonly tags: readonly string[] }) {
  return (
    <>
      {tags.map((tag) => (
        <span key={tag} class="tag small muted">
          <Named text={tag} />
        </span>
      ))}
    </>
  );
}
