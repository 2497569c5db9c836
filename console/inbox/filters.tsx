import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { ListedInterrupt } from '../../http/index';
import { identity } from '../data/identity';
import { visibleText } from '../parts/plain-text';
import { setQuery } from '../routes';
import { decideTexts } from '../texts/decide';
import { inboxTexts } from '../texts/inbox';
import { waitingForName } from '../decide/decide';
import { policyOf, rowSorts } from '../decide/row';
import type { InboxView } from './rows';
import { inboxGroups, interruptKinds } from './rows';

interface FiltersProps {
  readonly view: InboxView;
  readonly listed: readonly ListedInterrupt[];
}

/** What of the inbox is shown. Each choice is a part of the URL. */
export function Filters({ view, listed }: FiltersProps): JSX.Element {
  const hasName = identity.value.name !== '';
  const agents = useMemo(
    () =>
      namesOf(
        listed.map(({ agent }) => agent),
        view.agent,
      ),
    [listed, view.agent],
  );
  const policies = useMemo(
    () =>
      namesOf(
        listed.map(({ interrupt }) => policyOf(interrupt) ?? ''),
        view.policy,
      ),
    [listed, view.policy],
  );
  return (
    <div class="filters">
      <div class="filters-first">
        <input
          type="search"
          id="inbox-search"
          aria-label={inboxTexts.search}
          placeholder={inboxTexts.searchHint}
          aria-keyshortcuts="/"
          value={view.search}
          onInput={({ currentTarget }) => setQuery({ q: currentTarget.value })}
        />
        <div class="segments" role="group" aria-label={inboxTexts.whose}>
          <button
            type="button"
            aria-pressed={hasName && !view.isForAll}
            onClick={() => {
              setQuery({ who: undefined });
              if (!hasName) waitingForName.value = () => undefined;
            }}
          >
            {inboxTexts.mine}
          </button>
          <button type="button" aria-pressed={!hasName || view.isForAll} onClick={() => setQuery({ who: 'all' })}>
            {inboxTexts.all}
          </button>
        </div>
      </div>
      <div class="filters-more">
        <Choice
          name="kind"
          label={inboxTexts.kind}
          value={view.kind}
          any={inboxTexts.anyKind}
          options={interruptKinds.map((kind) => [kind, decideTexts.kinds[kind]])}
        />
        <Choice name="agent" label={inboxTexts.agent} value={view.agent} any={inboxTexts.anyAgent} options={agents} />
        <Choice name="policy" label={inboxTexts.policy} value={view.policy} any={inboxTexts.anyPolicy} options={policies} />
      </div>
    </div>
  );
}

/** In which order, and in which groups. */
export function Order({ view }: { readonly view: InboxView }): JSX.Element {
  return (
    <>
      <Choice
        name="sort"
        label={inboxTexts.sort}
        value={view.sort}
        usual="oldest"
        options={rowSorts.map((sort) => [sort, inboxTexts.sorts[sort]])}
      />
      <Choice
        name="group"
        label={inboxTexts.group}
        value={view.group}
        usual="none"
        options={inboxGroups.map((group) => [group, inboxTexts.groups[group]])}
      />
    </>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  /** What stands for no filter. */
  readonly any?: string;
  /** The value that needs no place in the URL. */
  readonly usual?: string;
  readonly options: readonly (readonly [string, string])[];
}

function Choice({ name, label, value, any, usual = '', options }: ChoiceProps): JSX.Element {
  return (
    <select
      aria-label={label}
      title={label}
      class={value === usual ? undefined : 'set'}
      value={value}
      onChange={({ currentTarget }) => setQuery({ [name]: currentTarget.value === usual ? undefined : currentTarget.value })}
    >
      {any !== undefined && <option value="">{any}</option>}
      {options.map(([one, shown]) => (
        <option key={one} value={one}>
          {shown}
        </option>
      ))}
    </select>
  );
}

/** The names that occur, and the one that is chosen, also where nothing has it now. */
function namesOf(names: readonly string[], chosen: string): readonly (readonly [string, string])[] {
  return [...new Set([...names, chosen])]
    .filter((name) => name !== '')
    .sort()
    .map((name) => [name, visibleText(name)]);
}
