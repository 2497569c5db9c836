import type { JSX } from 'preact';

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
