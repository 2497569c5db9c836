import type { JSX } from 'preact';
import { givenAnswers } from '../data/decisions';
import { keyOfInterrupt } from '../data/interrupt-key';
import { knownEndings } from '../data/outcomes';
import { isAsking } from '../decide/keys';
import type { AskingRow } from '../decide/row';
import { summaryOf, titleOf } from '../decide/row';
import { AskingTitle } from '../decide/title';
import { stateText } from '../decide/words';
import { Button } from '../parts/button';
import { visibleText } from '../parts/plain-text';
import { hrefOf } from '../routes';
import { decideTexts } from '../texts/decide';
import { runTexts } from '../texts/run';

interface WaitsProps {
  readonly rows: readonly AskingRow[];
  readonly chosen: string;
  readonly onChoose: (interruptId: string) => void;
}

/** The most rows above the run. The inbox has all rows. */
const most = 20;

/** The interrupts of the run. Of many, the rows around the chosen row. */
export function Waits({ rows, chosen, onChoose }: WaitsProps): JSX.Element | null {
  const [first] = rows;
  if (first === undefined) return null;
  const at = rows.findIndex(({ key }) => key === chosen);
  const from = Math.max(0, Math.min(at - most / 2, rows.length - most));
  const shown = rows.slice(from, from + most);
  return (
    <section class="waits" aria-label={runTexts.waits.title}>
      <h2>{runTexts.waits.title}</h2>
      <ul>
        {shown.map((row) => (
          <Wait key={row.key} row={row} isChosen={row.key === chosen} onChoose={onChoose} />
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

interface WaitProps extends Pick<WaitsProps, 'onChoose'> {
  readonly row: AskingRow;
  readonly isChosen: boolean;
}

function Wait({ row, isChosen, onChoose }: WaitProps): JSX.Element {
  const { runId, interrupt } = row.listed;
  const said = stateText(row, givenAnswers.value.get(row.key), knownEndings.value.get(row.key));
  const title = visibleText(titleOf(interrupt).slice(0, 200));
  return (
    <li class="flow" data-key={row.key}>
      <AskingTitle interrupt={interrupt} />
      {said === undefined ? (
        <bdi class="wait-summary cut mono">{visibleText(summaryOf(interrupt))}</bdi>
      ) : (
        <strong class={`wait-summary cut kind-text ${said.kind}`}>{said.text}</strong>
      )}
      {isAsking(row) && (
        <>
          <Button
            {...(isChosen ? {} : { kind: 'primary' })}
            pressed={isChosen}
            label={decideTexts.decideAbout(title)}
            onClick={() => onChoose(interrupt.id)}
          >
            {decideTexts.decide}
          </Button>
          <a href={hrefOf('inbox', undefined, { who: 'all', item: keyOfInterrupt(runId, interrupt.id) })}>{runTexts.waits.inbox}</a>
        </>
      )}
    </li>
  );
}
