import { useCallback, useEffect, useMemo } from 'preact/hooks';
import { RunFeed } from '../data/run-feed';
import { subject } from '../data/subject';
import { ErrorNote } from '../parts/error-note';
import { lazy } from '../parts/lazy';
import { useKeys } from '../parts/keyboard';
import { hidePart, route, setQuery, showPart, hrefOf } from '../routes';
import { runTexts } from '../texts/run';
import { Composer } from './composer';
import { RunHeader } from './header';
import { RunSteps } from './steps';
import { useDecisions } from './use-decisions';
import { isAsking } from '../decide/decide';
import type { AskingRow } from '../decide/row';
import { AskingLine } from '../decide/title';
import { texts } from '../texts';

const Conversation = lazy(async () => (await import('./conversation')).Conversation);
const Detail = lazy(async () => (await import('../decide/detail')).Detail);
const StepDetail = lazy(async () => (await import('./step-detail')).StepDetail);
const Timeline = lazy(async () => (await import('./timeline')).Timeline);
const Events = lazy(async () => (await import('./events')).Events);

const views = { conversation: Conversation, timeline: Timeline, events: Events };
const tabs = ['conversation', 'timeline', 'events'] as const;

export function RunPage({ id = '' }: { readonly id?: string }) {
  const log = useMemo(() => new RunFeed(id), [id]);
  const made = useMemo(() => new RunSteps(), [log]);
  useEffect(() => {
    log.open();
    return () => log.close();
  }, [log]);
  const count = log.drawn.value;
  const { steps, entries } = made.take(log.events);
  const view = log.view.value;
  const title = `${view?.conversation?.title ?? id}${view === undefined ? '' : ` · ${view.status}`}`;
  useEffect(() => {
    subject.value = title;
    return () => void (subject.value = '');
  }, [title]);
  const { query } = route.value;
  const tab = tabs.find((one) => one === query.get('tab')) ?? 'conversation';
  useEffect(() => void views[tab].ask(), [tab]);
  const step = query.get('step') ?? undefined;
  const of = query.get('of') ?? undefined;
  const choose = useCallback((address: string, run?: string) => showPart({ step: address, of: run }), []);
  const close = useCallback(() => hidePart({ step: undefined, of: undefined }), []);
  const move = (by: 1 | -1): void => {
    const calls = steps.flatMap(({ address }) => address ?? []);
    const at = step === undefined ? -1 : calls.indexOf(step);
    const next = at === -1 ? undefined : calls[at + by];
    if (next !== undefined) choose(next);
  };
  const asking = useDecisions(log, made, count);
  useKeys(step === undefined ? asking.keys : { u: () => asking.keys['u']?.(), j: () => move(1), k: () => move(-1), Escape: close });
  const refresh = useCallback(() => void log.refresh(), [log]);
  const { error } = log;
  if (view === undefined)
    return (
      <div class="run-page padded">
        {error.value === undefined ? <p class="muted">{runTexts.loading}</p> : <ErrorNote error={error.value} onRetry={refresh} />}
      </div>
    );
  return (
    <div class="run-page">
      <div class="run-main grow column">
        <RunHeader view={view} onDone={refresh} />
        <Waits rows={asking.rows} chosen={asking.chosen?.key ?? ''} onChoose={asking.choose} />
        <Tabs shown={tab} />
        <div class="run-view grow column" id="run-view" role="tabpanel" aria-labelledby={`tab-${tab}`}>
          {tab === 'conversation' && <Conversation log={log} entries={entries} onStep={choose} />}
          {tab === 'timeline' && <Timeline id={id} steps={steps} version={count} chosen={step} onStep={choose} />}
          {tab === 'events' && <Events events={log.events} count={log.events.length} />}
        </div>
        <Composer view={view} onDone={refresh} />
      </div>
      {step !== undefined ? (
        <StepDetail id={of ?? id} address={step} version={count} onClose={close} onMove={move} />
      ) : (
        asking.chosen !== undefined && (
          <aside class="run-aside" aria-label={runTexts.waits.title}>
            <Detail
              key={asking.chosen.key}
              row={asking.chosen}
              isInRun
              back={{ label: runTexts.waits.close, act: asking.close }}
              onGiven={asking.goOn}
            />
          </aside>
        )
      )}
    </div>
  );
}

function Tabs({ shown }: { readonly shown: (typeof tabs)[number] }) {
  const show = (name: (typeof tabs)[number]): void => setQuery({ tab: name === 'conversation' ? undefined : name });
  return (
    <div class="tabs" role="tablist" aria-label={runTexts.views}>
      {tabs.map((name, at) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`tab-${name}`}
          aria-selected={name === shown}
          aria-controls="run-view"
          tabIndex={name === shown ? 0 : -1}
          onClick={() => show(name)}
          onKeyDown={({ key }) => {
            const next = tabs[(at + (key === 'ArrowRight' ? 1 : tabs.length - 1)) % tabs.length];
            if ((key !== 'ArrowRight' && key !== 'ArrowLeft') || next === undefined) return;
            show(next);
            document.getElementById(`tab-${next}`)?.focus();
          }}
        >
          {runTexts.tabs[name]}
        </button>
      ))}
    </div>
  );
}

interface WaitsProps {
  readonly rows: readonly AskingRow[];
  readonly chosen: string;
  readonly onChoose: (interruptId: string) => void;
}

const most = 20;

function Waits({ rows, chosen, onChoose }: WaitsProps) {
  const [first] = rows;
  if (first === undefined) return null;
  const at = rows.findIndex(({ key }) => key === chosen);
  const from = Math.max(0, Math.min(at - most / 2, rows.length - most));
  const shown = rows.slice(from, from + most);
  return (
    <section class="waits fixed" aria-label={runTexts.waits.title}>
      <h2>{runTexts.waits.title}</h2>
      <ul>
        {shown.map((row) => (
          <li key={row.key} class="flow" data-key={row.key}>
            <AskingLine row={row} isChosen={row.key === chosen} onDecide={() => onChoose(row.listed.interrupt.id)} />
            {isAsking(row) && <a href={hrefOf('inbox', undefined, { who: 'all', item: row.key })}>{texts.shell.inbox}</a>}
          </li>
        ))}
      </ul>
      {shown.length < rows.length && (
        <p class="muted">
          {runTexts.waits.shown(from + 1, from + shown.length, rows.length)}{' '}
          <a href={hrefOf('inbox', undefined, { who: 'all', q: first.listed.runId })}>{runTexts.waits.all}</a>
        </p>
      )}
    </section>
  );
}
