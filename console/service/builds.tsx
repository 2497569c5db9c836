import type { JSX } from 'preact';
import { useBuilds } from '../data/facts';
import { NoAnswer } from '../parts/error-note';
import { Named } from '../parts/said';
import { Badge } from '../parts/status-badge';
import { Time } from '../parts/time';
import { serviceTexts } from '../texts/service';
import { Table } from './table';

const words = serviceTexts;
const kinds = { newest: 'good', draining: 'info', drained: 'calm', unserved: 'bad' } as const;

export function BuildTable(): JSX.Element {
  const { value, error } = useBuilds();
  if (value === undefined) return <NoAnswer error={error} />;
  const rows = value.builds.map(({ id, since, openRuns, polledAt, state }) => ({
    key: id,
    kind: state,
    cells: [
      <strong>
        <Named isMono text={id} />
      </strong>,
      <>
        <Badge kind={kinds[state]}>{words.buildStates[state]}</Badge>
        {state === 'unserved' && <small class="bad-text">{words.unservedHint}</small>}
      </>,
      openRuns ?? '–',
      polledAt === undefined ? <span class="muted">{words.notSeen}</span> : <Time at={polledAt} />,
      since === undefined ? '–' : <Time at={since} />,
    ],
  }));
  return (
    <Table
      label={words.tabs.builds}
      columns={[words.build, words.state, { name: words.openRuns, isNumber: true }, words.lastWorker, words.firstSeen]}
      rows={rows}
      empty={words.noBuilds}
    />
  );
}
