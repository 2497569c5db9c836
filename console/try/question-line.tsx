import type { JSX } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { givenAnswers } from '../data/decisions';
import { knownEndings } from '../data/outcomes';
import type { DetailProps } from '../decide/detail';
import { isAsking } from '../decide/keys';
import type { AskingRow } from '../decide/row';
import { summaryOf, titleOf } from '../decide/row';
import { AskingTitle } from '../decide/title';
import { stateText } from '../decide/words';
import { Button } from '../parts/button';
import { lazy } from '../parts/lazy';
import { visibleText } from '../parts/plain-text';
import { decideTexts } from '../texts/decide';
import { tryTexts } from '../texts/try';

export const Decision = lazy(async () => {
  const { Detail } = await import('../decide/detail');
  return function Drawn({ onDrawn, ...props }: DetailProps & { readonly onDrawn: () => void }) {
    useLayoutEffect(onDrawn, []);
    return <Detail {...props} />;
  };
});

interface QuestionLineProps {
  readonly row: AskingRow;
  readonly isChosen: boolean;
  readonly onChoose: (key: string) => void;
  readonly onGiven: () => void;
  readonly onDrawn: () => void;
}

/** A question of the conversation: the decision as in the inbox, or a line with the outcome. */
export function QuestionLine({ row, isChosen, onChoose, onGiven, onDrawn }: QuestionLineProps): JSX.Element {
  const { interrupt } = row.listed;
  if (isChosen)
    return (
      <div role="group" class="line talk-question stack" aria-label={tryTexts.asked}>
        <Decision key={row.key} row={row} isInRun onGiven={onGiven} onDrawn={onDrawn} />
      </div>
    );
  const said = stateText(row, givenAnswers.value.get(row.key), knownEndings.value.get(row.key));
  return (
    <div role="group" class="line talk-question closed flow wrap" aria-label={tryTexts.asked}>
      <AskingTitle interrupt={interrupt} />
      {said === undefined ? (
        <bdi class="mono">{visibleText(summaryOf(interrupt))}</bdi>
      ) : (
        <strong class={`kind-text ${said.kind}`}>{said.text}</strong>
      )}
      {isAsking(row) && (
        <Button onClick={() => onChoose(row.key)} label={decideTexts.decideAbout(visibleText(titleOf(interrupt).slice(0, 200)))}>
          {decideTexts.decide}
        </Button>
      )}
    </div>
  );
}
