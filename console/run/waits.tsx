import { isAsking } from '../decide/keys';
import type { AskingRow } from '../decide/row';
import { AskingLine } from '../decide/title';
import { hrefOf } from '../routes';
import { texts } from '../texts';
import { runTexts } from '../texts/run';

interface WaitsProps {
  readonly rows: readonly AskingRow[];
  readonly chosen: string;
  readonly onChoose: (interruptId: string) => void;
}

const most = 20;

export function Waits({ rows, chosen, onChoose }: WaitsProps) {
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
