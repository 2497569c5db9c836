import type { JSX } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import type { DetailProps } from '../decide/detail';
import type { AskingRow } from '../decide/row';
import { AskingLine } from '../decide/title';
import { lazy } from '../parts/lazy';
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

export function QuestionLine({ row, isChosen, onChoose, onGiven, onDrawn }: QuestionLineProps): JSX.Element {
  if (isChosen)
    return (
      <div role="group" class="line talk-question stack" aria-label={tryTexts.asked}>
        <Decision key={row.key} row={row} isInRun onGiven={onGiven} onDrawn={onDrawn} />
      </div>
    );
  return (
    <div role="group" class="line talk-question closed flow wrap" aria-label={tryTexts.asked}>
      <AskingLine row={row} onDecide={() => onChoose(row.key)} />
    </div>
  );
}
