import { givenAnswers } from '../data/decisions';
import { knownEndings } from '../data/outcomes';
import { Button } from '../parts/button';
import type { Interrupt } from '../../contract/interrupts';
import { visibleText } from '../parts/plain-text';
import { Badge } from '../parts/status-badge';
import { decideTexts } from '../texts/decide';
import { isAsking } from './decide';
import type { AskingRow } from './row';
import { summaryOf, titleOf } from './row';
import { stateText } from './words';
import { isRecord } from '../../contract/check';
import type { Json } from '../../contract/messages/messages';
import { Said, SaidFrame } from '../parts/said';

export function AskingTitle({ interrupt }: { readonly interrupt: Interrupt }) {
  const { kind, agent } = interrupt;
  const title = visibleText(titleOf(interrupt).slice(0, 200));
  if (kind === 'approval') return <bdi class="row-title">{title}</bdi>;
  return (
    <span class="row-title">
      <Badge kind={kind === 'in-doubt' ? 'bad' : 'info'}>{decideTexts.kinds[kind]}</Badge>{' '}
      {kind === 'in-doubt' ? <bdi>{title}</bdi> : <q title={decideTexts.saidBy(visibleText(agent))}>{title}</q>}
    </span>
  );
}

interface AskingLineProps {
  readonly row: AskingRow;
  readonly onDecide: () => void;
  /** Absent: the button does not tell. */
  readonly isChosen?: boolean;
}

export function AskingLine({ row, onDecide, isChosen }: AskingLineProps) {
  const { interrupt } = row.listed;
  const said = stateText(row, givenAnswers.value.get(row.key), knownEndings.value.get(row.key));
  const state = isChosen === undefined ? {} : { pressed: isChosen };
  return (
    <>
      <AskingTitle interrupt={interrupt} />
      {said === undefined ? (
        <bdi class="summary mono">{visibleText(summaryOf(interrupt))}</bdi>
      ) : (
        <strong class={`summary kind-text ${said.kind}`}>{said.text}</strong>
      )}
      {isAsking(row) && (
        <Button
          {...state}
          {...(isChosen === false ? { kind: 'primary' } : {})}
          label={decideTexts.decideAbout(visibleText(titleOf(interrupt).slice(0, 200)))}
          onClick={onDecide}
        >
          {decideTexts.decide}
        </Button>
      )}
    </>
  );
}

export function TheirWords({ answer }: { readonly answer: Json | undefined }) {
  if (!isRecord(answer)) return null;
  const { feedback, comment } = answer;
  const said = [feedback, comment].filter((text): text is string => typeof text === 'string' && text !== '');
  if (said.length === 0) return null;
  return (
    <SaidFrame who={decideTexts.theySaid}>
      {said.map((text) => (
        <Said key={text} text={text} />
      ))}
    </SaidFrame>
  );
}
