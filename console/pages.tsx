import { useEffect } from 'preact/hooks';
import { Button } from './parts/button';
import { EmptyState } from './parts/error-note';
import { lazy, loadParts } from './parts/lazy';
import { texts } from './texts';

interface PageProps {
  readonly id?: string;
}

const loading = <p class="unseen">{texts.parts.loading}</p>;
const stale = (
  <EmptyState title={texts.shell.staleTitle} text={texts.shell.staleText}>
    <Button kind="primary" onClick={() => location.reload()}>
      {texts.shell.reload}
    </Button>
  </EmptyState>
);

const pages = {
  inbox: lazy<PageProps>(async () => (await import('./inbox/page')).InboxPage, loading, stale),
  runs: lazy<PageProps>(async () => (await import('./runs/page')).RunsPage, loading, stale),
  run: lazy<PageProps>(async () => (await import('./run/page')).RunPage, loading, stale),
  try: lazy<PageProps>(async () => (await import('./try/page')).TryPage, loading, stale),
  automation: lazy<PageProps>(async () => (await import('./automation/page')).automationPage, loading, stale),
  service: lazy<PageProps>(async () => (await import('./service/page')).ServicePage, loading, stale),
};

export function PageOf({ name, id }: PageProps & { readonly name: keyof typeof pages }) {
  const Page = pages[name];
  useEffect(() => void Page.ask().then(loadOthers), [Page]);
  return <Page {...(id === undefined ? {} : { id })} />;
}

let areOthersAsked = false;

function loadOthers(): void {
  const { connection } = navigator as { readonly connection?: { readonly saveData?: boolean } };
  if (areOthersAsked || connection?.saveData === true) return;
  areOthersAsked = true;
  setTimeout(loadParts, 1_000);
}
