import { useEffect, useState } from 'preact/hooks';
import { useMe } from './data/identity';
import { useInbox } from './data/inbox';
import { isServiceUp } from './data/service';
import { subject } from './data/subject';
import type { ThemeChoice } from './data/theme';
import { storeTheme, storedTheme } from './data/theme';
import { PageOf } from './pages';
import { Announcer, announce, Toasts } from './parts/toast';
import { IconButton } from './parts/button';
import { visibleText } from './parts/plain-text';
import { hrefOf, pageNames, routeOf, shownPage } from './routes';
import { texts } from './texts';
import { Who } from './who';

export function Console() {
  return useMe() ? <Shell /> : null;
}

function Shell() {
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
      <header class="shell flow fixed">
        <a class="brand flow" href={hrefOf('inbox')}>
          <Mark />
          {texts.shell.product}
        </a>
        <nav class="tabs" aria-label={texts.shell.pages}>
          {pageNames.map((name) => (
            <a key={name} href={hrefOf(name)} aria-current={name === page ? 'page' : undefined}>
              {texts.shell[name]}
              {name === 'inbox' && waiting !== undefined && (
                <span class="count numbers" title={texts.shell.waiting(waiting)}>
                  {waiting}
                </span>
              )}
            </a>
          ))}
        </nav>
        <div class="shell-end flow">
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

function Page() {
  const { page, id } = routeOf(shownPage.value);
  if (page === 'runs' && id !== undefined) return <PageOf key={id} name="run" id={id} />;
  return <PageOf key={page} name={page} {...(id === undefined ? {} : { id })} />;
}

function useWaiting(): string | undefined {
  const { interrupts = [], more = false } = useInbox().value ?? {};
  return interrupts.length === 0 ? undefined : `${interrupts.length}${more ? '+' : ''}`;
}

function ConnectionState() {
  const isUp = isServiceUp.value;
  return (
    <span
      class={isUp ? 'connection flow small muted good' : 'connection flow small bad kind-text'}
      title={isUp ? undefined : texts.shell.awayLong}
    >
      <span class="dot" aria-hidden="true" />
      {isUp ? texts.shell.connected : texts.shell.away}
    </span>
  );
}

function AwayNotice() {
  const isAway = !isServiceUp.value;
  const [wasAway, setWasAway] = useState(false);
  useEffect(() => {
    if (isAway) announce(texts.shell.awayLong);
    else if (wasAway) announce(texts.shell.back);
    setWasAway(isAway);
  }, [isAway]);
  return isAway ? <div class="away-notice fixed">{texts.shell.awayLong}</div> : null;
}

const themes: readonly ThemeChoice[] = ['system', 'light', 'dark'];

function ThemeToggle() {
  const [theme, setTheme] = useState(storedTheme);
  const toggle = (): void => {
    const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system';
    storeTheme(next);
    setTheme(next);
  };
  return <IconButton label={texts.shell.theme[theme]} icon={theme} onClick={toggle} />;
}

function Mark() {
  return (
    <svg class="mark" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
      <path d="M10 2v13M6 6h8M3 11c0 4 3 7 7 7s7-3 7-7" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" />
    </svg>
  );
}

// The hash is the route, so the link must not change the hash.
function focusContent(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}
