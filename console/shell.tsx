import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { connection } from './data/connection';
import { identity } from './data/identity';
import { useInbox } from './data/inbox';
import { subject } from './data/subject';
import type { ThemeChoice } from './data/theme';
import { storeTheme, storedTheme } from './data/theme';
import { IdentityDialog } from './identity-dialog';
import { PageOf } from './pages';
import { Announcer, announce } from './parts/announce';
import { Icon } from './parts/icon';
import { Toasts } from './parts/toast';
import { visibleText } from './parts/plain-text';
import { hrefOf, pageNames, routeOf, shownPage } from './routes';
import { texts } from './texts';

/** The header, and the page of the route below it. */
export function Shell(): JSX.Element {
  const { page } = routeOf(shownPage.value);
  const waiting = useWaiting();
  useEffect(() => {
    const name = subject.value === '' ? texts.shell[page] : visibleText(subject.value);
    document.title = waiting === undefined || subject.value !== '' ? texts.shell.title(name) : texts.shell.countTitle(waiting, name);
  }, [page, waiting, subject.value]);
  return (
    <>
      <a class="skip" href="#content" onClick={focusContent}>
        {texts.shell.skip}
      </a>
      <header class="shell">
        <a class="brand" href={hrefOf('inbox')}>
          <Mark />
          {texts.shell.product}
        </a>
        <nav aria-label={texts.shell.pages}>
          {pageNames.map((name) => (
            <a key={name} href={hrefOf(name)} aria-current={name === page ? 'page' : undefined}>
              {texts.shell[name]}
              {name === 'inbox' && waiting !== undefined && (
                <span class="count" title={texts.shell.waiting(waiting)}>
                  {waiting}
                </span>
              )}
            </a>
          ))}
        </nav>
        <div class="shell-end">
          <ConnectionState />
          <Who />
          <ThemeToggle />
        </div>
      </header>
      <AwayNotice />
      <main id="content" tabIndex={-1}>
        <Page />
      </main>
      <Toasts />
      <Announcer />
    </>
  );
}

function Page(): JSX.Element {
  const { page, id } = routeOf(shownPage.value);
  if (page === 'runs' && id !== undefined) return <PageOf key={id} name="run" id={id} />;
  return <PageOf key={page} name={page} {...(id === undefined ? {} : { id })} />;
}

/** How many wait for whoever sits here. Undefined: none, or not known yet. */
function useWaiting(): string | undefined {
  const { value } = useInbox();
  if (value.value === undefined || value.value.interrupts.length === 0) return undefined;
  return value.value.more ? `${value.value.interrupts.length}+` : String(value.value.interrupts.length);
}

function ConnectionState(): JSX.Element {
  const isUp = connection.value.state === 'up';
  return (
    <span class={isUp ? 'connection up' : 'connection away'} title={isUp ? undefined : texts.shell.awayLong}>
      <span class="dot" aria-hidden="true" />
      {isUp ? texts.shell.connected : texts.shell.away}
    </span>
  );
}

/** Says when the service goes, and when it is there again. */
function AwayNotice(): JSX.Element | null {
  const isAway = connection.value.state === 'away';
  const [wasAway, setWasAway] = useState(false);
  useEffect(() => {
    if (isAway) announce(texts.shell.awayLong);
    else if (wasAway) announce(texts.shell.back);
    setWasAway(isAway);
  }, [isAway]);
  return isAway ? <div class="away-notice">{texts.shell.awayLong}</div> : null;
}

function Who(): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const { name } = identity.value;
  const shown = name === '' ? texts.shell.nobody : visibleText(name);
  return (
    <>
      <button
        type="button"
        class={name === '' ? 'who nobody' : 'who'}
        aria-label={name === '' ? undefined : texts.shell.youAre(shown)}
        title={name === '' ? undefined : texts.shell.youAre(shown)}
        onClick={() => setOpen(true)}
      >
        <bdi>{shown}</bdi>
      </button>
      {isOpen && <IdentityDialog onClose={() => setOpen(false)} />}
    </>
  );
}

const themes: readonly ThemeChoice[] = ['system', 'light', 'dark'];

function ThemeToggle(): JSX.Element {
  const [theme, setTheme] = useState(storedTheme);
  const toggle = (): void => {
    const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system';
    storeTheme(next);
    setTheme(next);
  };
  return (
    <button type="button" class="icon-button" aria-label={texts.shell.theme[theme]} title={texts.shell.theme[theme]} onClick={toggle}>
      <Icon name={theme} />
    </button>
  );
}

function Mark(): JSX.Element {
  return (
    <svg class="mark" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
      <path d="M10 2v13M6 6h8M3 11c0 4 3 7 7 7s7-3 7-7" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" />
    </svg>
  );
}

// The hash is the route: the link must not change it.
function focusContent(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}
