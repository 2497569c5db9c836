import { useRef } from 'preact/hooks';
import { givenAnswers } from '../data/decisions';
import { knownEndings } from '../data/outcomes';
import { useFocusWish } from '../decide/focus';
import type { AskingRow } from '../decide/row';
import { policyOf, summaryOf, titleOf } from '../decide/row';
import { AskingTitle } from '../decide/title';
import { stateText } from '../decide/words';
import { Time } from '../parts/time';
import { visibleText } from '../parts/plain-text';
import { texts } from '../texts';
import { inboxTexts } from '../texts/inbox';
import { now } from '../data/clock';

interface RowProps {
  readonly row: AskingRow;
  readonly href: string;
  readonly isChosen: boolean;
  readonly isSelected: boolean;
  readonly isFirst: boolean;
  readonly onSelect: () => void;
  readonly onChoose: () => void;
}

export const rowHeight = 68;
export const headingHeight = 32;

export function Row({ row, href, isChosen, isSelected, isFirst, onSelect, onChoose }: RowProps) {
  const link = useRef<HTMLAnchorElement>(null);
  const { listed, key, goneAt } = row;
  useFocusWish(`row ${key}`, link, { preventScroll: true });
  const { interrupt, runId, waitingSince } = listed;
  const title = visibleText(titleOf(interrupt));
  const said = stateText(row, givenAnswers.value.get(key), knownEndings.value.get(key));
  const policy = policyOf(interrupt);
  return (
    <div class={`row full${isChosen ? ' chosen' : ''}${said === undefined ? '' : ' settled'}`} data-key={key}>
      <input
        type="checkbox"
        aria-label={texts.parts.select(`${title}, ${runId}`)}
        checked={isSelected}
        disabled={goneAt !== undefined}
        tabIndex={-1}
        onChange={onSelect}
      />
      <a
        ref={link}
        class="row-link grow stack"
        href={href}
        aria-current={isChosen ? 'true' : undefined}
        tabIndex={isChosen || isFirst ? 0 : -1}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey) return;
          event.preventDefault();
          onChoose();
        }}
      >
        <span class="row-line flow">
          <AskingTitle interrupt={interrupt} />
          <span class="row-summary grow cut mono muted">{visibleText(summaryOf(interrupt))}</span>
          <span class="fixed small muted numbers">{waitingSince !== undefined && <Time at={waitingSince} isLength />}</span>
        </span>
        <span class="row-line flow small muted">
          {said === undefined ? (
            <>
              <span class="row-names flow grow">
                <bdi class="cut">{visibleText(interrupt.agent)}</bdi>
                {policy !== undefined && <span class="row-policy cut">{visibleText(policy)}</span>}
                <bdi class="row-run cut mono">{visibleText(runId)}</bdi>
              </span>
              <Deadline at={interrupt.deadline} />
            </>
          ) : (
            <span class={`cut kind-text ${said.kind}`}>{said.text}</span>
          )}
        </span>
      </a>
    </div>
  );
}

function Deadline({ at }: { readonly at: number | undefined }) {
  if (at === undefined) return null;
  const left = at - now.value;
  return (
    <span class={left < 3_600_000 ? 'fixed bad kind-text' : 'fixed'}>
      {inboxTexts.due} <Time at={at} />
    </span>
  );
}
