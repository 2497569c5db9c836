import type { ListedInterrupt } from '../../client/http/index';
import { askForName, identity } from '../data/identity';
import { policyOf, rowSorts } from '../decide/row';
import { Select } from '../parts/fields';
import { visibleText } from '../parts/plain-text';
import { setQuery } from '../routes';
import { decideTexts } from '../texts/decide';
import { inboxTexts } from '../texts/inbox';
import type { InboxView } from './rows';
import { inboxGroups, interruptKinds } from './rows';

interface FiltersProps {
  readonly view: InboxView;
  readonly listed: readonly ListedInterrupt[];
}

export function Filters({ view, listed }: FiltersProps) {
  const agents = listed.map(({ agent }) => agent);
  const policies = listed.map(({ interrupt }) => policyOf(interrupt) ?? '');
  const kinds = interruptKinds.map((kind) => [kind, decideTexts.kinds[kind]] as const);
  return (
    <div class="filters stack">
      <div class="filters-first flow">
        <input
          type="search"
          id="inbox-search"
          aria-label={inboxTexts.search}
          placeholder={inboxTexts.searchHint}
          aria-keyshortcuts="/"
          value={view.search}
          onInput={({ currentTarget }) => setQuery({ q: currentTarget.value })}
        />
        <Whose isForAll={view.isForAll} />
      </div>
      <div class="filters-more flow wrap">
        <Choice name="kind" value={view.kind} options={[['', inboxTexts.anyKind], ...kinds]} />
        <Choice name="agent" value={view.agent} options={[['', inboxTexts.anyAgent], ...namesOf(agents, view.agent)]} />
        <Choice name="policy" value={view.policy} options={[['', inboxTexts.anyPolicy], ...namesOf(policies, view.policy)]} />
      </div>
    </div>
  );
}

function Whose({ isForAll }: Pick<InboxView, 'isForAll'>) {
  const hasName = identity.value.name !== '';
  const showMine = (): void => {
    setQuery({ who: undefined });
    if (!hasName) askForName();
  };
  return (
    <div class="segments" role="group" aria-label={inboxTexts.whose}>
      <button type="button" aria-pressed={hasName && !isForAll} onClick={showMine}>
        {inboxTexts.mine}
      </button>
      <button type="button" aria-pressed={!hasName || isForAll} onClick={() => setQuery({ who: 'all' })}>
        {inboxTexts.all}
      </button>
    </div>
  );
}

export function Order({ view }: { readonly view: InboxView }) {
  return (
    <>
      <Choice name="sort" value={view.sort} usual="oldest" options={rowSorts.map((sort) => [sort, inboxTexts.sorts[sort]])} />
      <Choice name="group" value={view.group} usual="none" options={inboxGroups.map((group) => [group, inboxTexts.groups[group]])} />
    </>
  );
}

interface ChoiceProps {
  readonly name: 'kind' | 'agent' | 'policy' | 'sort' | 'group';
  readonly value: string;
  /** The value that the URL leaves out. */
  readonly usual?: string;
  readonly options: readonly (readonly [string, string])[];
}

function Choice({ name, value, usual = '', options }: ChoiceProps) {
  return (
    <Select
      label={inboxTexts[name]}
      class={value === usual ? undefined : 'set'}
      value={value}
      options={options}
      onChoose={(chosen) => setQuery({ [name]: chosen === usual ? undefined : chosen })}
    />
  );
}

/** Includes the chosen name even without rows. */
function namesOf(names: readonly string[], chosen: string): readonly (readonly [string, string])[] {
  return [...new Set([...names, chosen])]
    .filter((name) => name !== '')
    .sort()
    .map((name) => [name, visibleText(name)]);
}
