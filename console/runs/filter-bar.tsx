import { useEffect, useRef, useState } from 'preact/hooks';
import type { ListStatus } from '../../contract/events';
import type { ListedAgent, RunCounts } from '../../client/http/index';
import { Chips } from '../parts/button';
import { Select } from '../parts/fields';
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
const kindOfCount: Readonly<Record<string, string>> = { failed: 'bad kind-text', waiting: 'warn kind-text' };
const statuses = ['running', 'waiting', 'idle', 'failed', 'completed', 'cancelled'] as const;

export function FilterBar({ filters, counts, agents }: FilterBarProps) {
  const { id, agent = '', tag, startedBy, since, until } = filters;
  const names = [...new Set([...agents.map(({ name }) => name), agent])].filter((name) => name !== '');
  return (
    <search class="run-filters flow wrap" aria-label={runsTexts.filters}>
      <Statuses filters={filters} counts={counts} />
      <div class="filter-fields flow wrap">
        <Typed name="id" label={runsTexts.searchId} value={id ?? ''} />
        <Select
          class="filter"
          label={runsTexts.agent}
          value={agent}
          options={[['', runsTexts.anyAgent], ...names.map((name) => [name, visibleText(name)] as const)]}
          onChoose={(name) => setQuery({ agent: name })}
        />
        <Typed name="tag" label={runsTexts.tags} value={tag.join(', ')} />
        <Typed name="startedBy" label={runsTexts.startedBy} value={startedBy ?? ''} />
        <Times since={since} until={until} />
      </div>
    </search>
  );
}

function Statuses({ filters: { status }, counts }: Omit<FilterBarProps, 'agents'>) {
  const options = statuses.map((name) => ({
    name,
    title: ['failed', 'completed', 'cancelled'].includes(name) ? runsTexts.today : undefined,
    shown: (
      <>
        {runsTexts.statuses[name]}
        {/* The dot keeps the place of an unknown number. */}
        <span class={`chip-count numbers ${kindOfCount[name] ?? 'muted'}`}>{counts?.[name] ?? '·'}</span>
      </>
    ),
  }));
  return (
    <Chips<ListStatus | undefined>
      label={runsTexts.status}
      options={[{ name: undefined, shown: runsTexts.all }, ...options]}
      chosen={status}
      onChoose={(name) => setQuery({ status: name })}
    />
  );
}

interface TypedProps {
  readonly name: 'id' | 'tag' | 'startedBy';
  readonly label: string;
  readonly value: string;
}

/** Changes the URL when the person stops typing. */
function Typed({ name, label, value }: TypedProps) {
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const sent = useRef(value);
  useEffect(() => {
    // Another element may change the URL, such as a saved view.
    if (value !== sent.current) setText(value);
    sent.current = value;
  }, [value]);
  const send = (typed: string): void => {
    clearTimeout(timer.current);
    const values = (name === 'tag' ? typed.split(',') : [typed]).map((one) => one.trim()).filter((one) => one !== '');
    sent.current = values.join(', ');
    setQuery({ [name]: values });
  };
  return (
    <input
      class={name === 'id' ? 'filter grows' : 'filter'}
      type="search"
      value={text}
      aria-label={label}
      placeholder={label}
      id={`filter-${name}`}
      autocomplete="off"
      spellcheck={false}
      onInput={({ currentTarget }) => {
        setText(currentTarget.value);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => send(currentTarget.value), typingMs);
      }}
      onChange={({ currentTarget }) => send(currentTarget.value)}
    />
  );
}

function Times({ since = '', until }: Pick<RunFilters, 'since' | 'until'>) {
  const known = until === undefined ? ago.find((one) => one === since) : undefined;
  const [isOwn, setOwn] = useState(known === undefined);
  const shown = isOwn || known === undefined ? 'between' : known;
  const choose = (value: (typeof ago)[number] | 'between'): void => {
    setOwn(value === 'between');
    if (value !== 'between') setQuery({ since: value, until: '' });
  };
  return (
    <>
      <Select
        class="filter"
        label={runsTexts.time}
        value={shown}
        options={[...ago.map((one) => [one, runsTexts.ago[one]] as const), ['between', runsTexts.between]]}
        onChoose={choose}
      />
      {shown === 'between' && (
        <>
          <Moment name="since" label={runsTexts.from} value={since} />
          <Moment name="until" label={runsTexts.to} value={until} />
        </>
      )}
    </>
  );
}

interface MomentProps {
  readonly name: 'since' | 'until';
  readonly label: string;
  readonly value: string | undefined;
}

function Moment({ name, label, value = '' }: MomentProps) {
  return (
    <label class="moment flow">
      <span class="muted">{label}</span>
      <input
        type="datetime-local"
        value={localText(value)}
        onChange={({ currentTarget: { value: typed } }) => setQuery({ [name]: typed === '' ? '' : new Date(typed).toISOString() })}
      />
    </label>
  );
}

function localText(value: string): string {
  const time = Date.parse(value);
  if (Number.isNaN(time)) return '';
  const at = new Date(time);
  return new Date(time - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
