import { signal } from '@preact/signals';
import type { ComponentType, JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Button } from './parts/button';
import { loadParts } from './parts/lazy';
import { EmptyState } from './parts/empty-state';
import { texts } from './texts';

interface PageProps {
  /** What the page is about, such as a run. */
  readonly id?: string;
}

/** Each page is a script of its own, which comes when the page is first shown, or while nothing else is to be done. */
const scripts = {
  inbox: async () => (await import('./inbox/page')).InboxPage,
  runs: async () => (await import('./runs/page')).RunsPage,
  run: async () => (await import('./run/page')).RunPage as ComponentType<PageProps>,
  try: async () => (await import('./try/page')).TryPage,
  service: async () => (await import('./service/page')).ServicePage,
} satisfies Readonly<Record<string, () => Promise<ComponentType<PageProps>>>>;

export type PageScript = keyof typeof scripts;

const loaded = signal<Readonly<Partial<Record<PageScript, ComponentType<PageProps> | 'failed'>>>>({});
const asked = new Map<PageScript, Promise<void>>();

function load(name: PageScript): Promise<void> {
  const known = asked.get(name);
  if (known !== undefined) return known;
  const request = scripts[name]().then(
    (page) => void (loaded.value = { ...loaded.peek(), [name]: page }),
    () => {
      asked.delete(name);
      loaded.value = { ...loaded.peek(), [name]: 'failed' };
    },
  );
  asked.set(name, request);
  return request;
}

/** A page, once its script is there. */
export function PageOf({ name, id }: PageProps & { readonly name: PageScript }): JSX.Element {
  useEffect(() => {
    void load(name).then(loadOthers);
  }, [name]);
  const Found = loaded.value[name];
  if (Found === undefined) return <p class="unseen">{texts.parts.loading}</p>;
  if (Found === 'failed')
    return (
      <EmptyState title={texts.shell.staleTitle}>
        <p>{texts.shell.staleText}</p>
        <Button kind="primary" onClick={() => location.reload()}>
          {texts.shell.reload}
        </Button>
      </EmptyState>
    );
  return <Found {...(id === undefined ? {} : { id })} />;
}

let areOthersAsked = false;

/** The other pages come later, so that they are there also while the service is away. Whoever saves data gets each when it is shown. */
function loadOthers(): void {
  const { connection } = navigator as { readonly connection?: { readonly saveData?: boolean } };
  if (areOthersAsked || connection?.saveData === true) return;
  areOthersAsked = true;
  setTimeout(() => {
    for (const name of Object.keys(scripts) as readonly PageScript[]) void load(name).then(loadParts);
  }, 1_000);
}
