import type { JSX } from 'preact';
import { usageGroups } from '../../contract/service-facts';
import type { UsageReport, UsageRow } from '../../client/http/index';
import { useUsage } from '../data/facts';
import { Chips } from '../parts/button';
import { ErrorNote } from '../parts/error-note';
import { Select } from '../parts/fields';
import { StrongName } from '../parts/said';
import { Table } from '../parts/table';
import { route, setQuery } from '../routes';
import { runsTexts } from '../texts/runs';
import { serviceTexts } from '../texts/service';

const words = serviceTexts;
const ago = ['1h', '24h', '7d', '30d'] as const;

export function Usage() {
  const { query } = route.value;
  const by = usageGroups.find((group) => group === query.get('by')) ?? 'agent';
  const since = ago.find((one) => one === query.get('since')) ?? '24h';
  const { value: report, error } = useUsage(by, since);
  return (
    <section class="stack" aria-label={words.tabs.usage}>
      <div class="split flow wrap">
        <Chips
          label={words.usageBy}
          options={usageGroups.map((name) => ({ name, shown: words.groups[name] }))}
          chosen={by}
          onChoose={(name) => setQuery({ by: name })}
        />
        <Select
          class="filter"
          label={runsTexts.time}
          value={since}
          options={ago.map((one) => [one, runsTexts.ago[one]])}
          onChoose={(one) => setQuery({ since: one })}
        />
      </div>
      {error !== undefined && <ErrorNote error={error} />}
      {report === undefined ? (
        <p class="muted">{words.counting}</p>
      ) : (
        <>
          <UsageTable rows={report.rows} total={report.total} group={words.groups[by]} />
          <p class="muted" role="status">
            {words.counted(report.counted)} {report.left > 0 && words.left(report.left)} {report.more && words.more}{' '}
            {report.unreadable > 0 && words.unreadable(report.unreadable)} {report.uncounted > 0 && words.uncounted(report.uncounted)}
          </p>
          <p class="muted">{words.usageNote}</p>
        </>
      )}
    </section>
  );
}

interface UsageTableProps extends Pick<UsageReport, 'rows' | 'total'> {
  readonly group: string;
}

function UsageTable({ rows, total, group }: UsageTableProps) {
  const most = Math.max(1, ...rows.map(tokensOf));
  const hasCost = rows.some(({ cost }) => cost !== undefined);
  const cellsOf = (row: Omit<UsageRow, 'key'>): readonly (JSX.Element | string)[] => [
    whole(row.calls),
    whole(row.usage.inputTokens),
    whole(row.usage.cachedInputTokens ?? 0),
    whole(row.usage.outputTokens),
    ...(hasCost ? [costText(row)] : []),
  ];
  const all = rows.map((row) => ({
    key: row.key,
    cells: [
      <>
        <StrongName text={row.key} />
        <meter class="usage-bar" min={0} max={most} value={tokensOf(row)} aria-label={words.share(row.key)} />
      </>,
      ...cellsOf(row),
    ],
  }));
  const sum = rows.length < 2 ? [] : [{ key: 'total', kind: 'total', cells: [<strong>{words.total}</strong>, ...cellsOf(total)] }];
  const numbers = [words.calls, words.inputTokens, words.cachedTokens, words.outputTokens, ...(hasCost ? [words.cost] : [])];
  return (
    <Table
      label={words.tabs.usage}
      columns={[group, ...numbers.map((name) => ({ name, isNumber: true }))]}
      rows={[...all, ...sum]}
      empty={words.noUsage}
    />
  );
}

function tokensOf({ usage }: Pick<UsageRow, 'usage'>): number {
  return usage.inputTokens + usage.outputTokens;
}

function whole(count: number): string {
  return count.toLocaleString();
}

function costText({ cost }: Pick<UsageRow, 'cost'>): string {
  if (cost === undefined) return '–';
  const digits = cost.amount >= 1 ? 2 : 6;
  return `${cost.complete ? '' : '≥ '}${cost.amount.toLocaleString(undefined, { maximumFractionDigits: digits })}`;
}
