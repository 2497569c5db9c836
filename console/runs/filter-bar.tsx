import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ListedAgent, RunCounts } from '../../http/index';
import { visibleText } from '../parts/plain-text';
import { setQuery } from '../routes';
import { runsTexts } from '../texts/runs';
import type { RunFilters } from './filters';

interface FilterBarProps {
  readonly filters: RunFilters;
  readonly counts: RunCounts | undefined;
  readonly agents: readonly ListedAgent[];
}

const typingMs = 250;
const ago = ['', '1h', '24h', '7d', '30d'] as const;

/** The filters. What is set here stands in the URL. */
export function FilterBar({ filters, counts, agents }: FilterBarProps): JSX.Element {
  const { agent, tag, startedBy, since } = filters;
  const known =
    agents.some(({ name }) => name === agent) || agent === undefined
      ? agents.map(({ name }) => name)
      : [agent, ...agents.map(({ name }) => name)];
  return (
    <search class="run-filters" aria-label={runsTexts.filters}>
      <Statuses filters={filters} counts={counts} />
      <div class="filter-fields">
        <Typed name="id" label={runsTexts.searchId} value={filters.id ?? ''} isSearch />
        <label class="filter">
          <span class="unseen">{runsTexts.agent}</span>
          <select value={agent ?? ''} onChange={({ currentTarget }) => setQuery({ agent: currentTarget.value })}>
            <option value="">{runsTexts.anyAgent}</option>
            {known.map((name) => (
              <option key={name} value={name}>
                {visibleText(name)}
              </option>
            ))}
          </select>
        </label>
        <Typed name="tag" label={runsTexts.tags} value={tag.join(', ')} isList />
        <Typed name="startedBy" label={runsTexts.startedBy} value={startedBy ?? ''} />
        <Times since={since} until={filters.until} />
      </div>
    </search>
  );
}

function Statuses({ filters, counts }: Pick<FilterBarProps, 'filters' | 'counts'>): JSX.Element {
  const { status } = filters;
  const chips = [
    { name: undefined, count: undefined },
    { name: 'running', count: counts?.running },
    { name: 'waiting', count: counts?.waiting },
    { name: 'idle', count: counts?.idle },
    { name: 'failed', count: counts?.failed },
    { name: 'completed', count: counts?.completed },
    { name: 'cancelled', count: counts?.cancelled },
  ] as const;
  return (
    <div class="chips" role="group" aria-label={runsTexts.status}>
      {chips.map(({ name, count }) => {
        const isEnded = name === 'failed' || name === 'completed' || name === 'cancelled';
        return (
          <button
            key={name ?? 'all'}
            type="button"
            class={name === undefined ? 'chip' : `chip ${name}`}
            aria-pressed={status === name}
            title={isEnded ? runsTexts.today : undefined}
            onClick={() => setQuery({ status: name })}
          >
            {name === undefined ? runsTexts.all : runsTexts.statuses[name]}
            {/* Room for the number before it is known: nothing moves then. */}
            {name !== undefined && <span class="chip-count">{count ?? '·'}</span>}
          </button>
        );
      })}
    </div>
  );
}

interface TypedProps {
  readonly name: 'id' | 'tag' | 'startedBy';
  readonly label: string;
  readonly value: string;
  readonly isSearch?: boolean;
  readonly isList?: boolean;
}

/** A field that is asked for when somebody has stopped to type. */
function Typed({ name, label, value, isSearch = false, isList = false }: TypedProps): JSX.Element {
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const sent = useRef(value);
  useEffect(() => {
    // Somebody else has changed the URL, such as a saved view.
    if (value !== sent.current) setText(value);
    sent.current = value;
  }, [value]);
  const send = (typed: string): void => {
    const values = isList
      ? typed
          .split(',')
          .map((one) => one.trim())
          .filter((one) => one !== '')
      : [typed.trim()];
    sent.current = isList ? values.join(', ') : (values[0] ?? '');
    setQuery({ [name]: values });
  };
  return (
    <label class={isSearch ? 'filter grows' : 'filter'}>
      <span class="unseen">{label}</span>
      <input
        type="search"
        value={text}
        placeholder={label}
        id={`filter-${name}`}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => send(currentTarget.value), typingMs);
        }}
        onChange={({ currentTarget }) => {
          clearTimeout(timer.current);
          send(currentTarget.value);
        }}
      />
    </label>
  );
}

function Times({ since, until }: Pick<RunFilters, 'since' | 'until'>): JSX.Element {
  const isAgo = until === undefined && ago.some((one) => one === (since ?? ''));
  const [isOwn, setOwn] = useState(!isAgo);
  const shown = isOwn || !isAgo ? 'between' : (since ?? '');
  const choose = (value: string): void => {
    setOwn(value === 'between');
    if (value !== 'between') setQuery({ since: value, until: '' });
  };
  return (
    <>
      <label class="filter">
        <span class="unseen">{runsTexts.time}</span>
        <select value={shown} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          {ago.map((one) => (
            <option key={one} value={one}>
              {runsTexts.ago[one]}
            </option>
          ))}
          <option value="between">{runsTexts.between}</option>
        </select>
      </label>
      {shown === 'between' && (
        <>
          <Moment name="since" label={runsTexts.from} value={since} />
          <Moment name="until" label={runsTexts.to} value={until} />
        </>
      )}
    </>
  );
}

function Moment({
  name,
  label,
  value,
}: {
  readonly name: 'since' | 'until';
  readonly label: string;
  readonly value: string | undefined;
}): JSX.Element {
  return (
    <label class="filter moment">
      <span>{label}</span>
      <input
        type="datetime-local"
        value={localText(value)}
        onChange={({ currentTarget }) =>
          setQuery({ [name]: currentTarget.value === '' ? '' : new Date(currentTarget.value).toISOString() })
        }
      />
    </label>
  );
}

/** A time as the field takes it, which is in the time zone of whoever looks. */
function localText(value: string | undefined): string {
  const time = value === undefined ? NaN : Date.parse(value);
  if (Number.isNaN(time)) return '';
  const at = new Date(time);
  return new Date(time - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
