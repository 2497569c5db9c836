import { useLayoutEffect } from 'preact/hooks';
import type { SayingCall, RunFeed } from '../data/run-feed';
import { visibleText } from '../parts/plain-text';
import { Said } from '../parts/said';
import { runTexts } from '../texts/run';
import { Reasoning } from './message';

export function LiveCalls({ log, onDrawn }: { readonly log: RunFeed; readonly onDrawn: () => void }) {
  void log.liveDrawn.value;
  const calls = [...log.live.values()].filter(({ address }) => /\/model(\.\d+)?$/.test(address));
  useLayoutEffect(onDrawn);
  if (calls.length === 0) return null;
  return (
    <ol class="entries" aria-busy="true">
      {calls.map((call) => (
        <Speaking key={call.address} call={call} />
      ))}
    </ol>
  );
}

function Speaking({ call: { agent, text, reasoning, inputs } }: { readonly call: SayingCall }) {
  const writing = [...inputs.values()].at(-1);
  return (
    <li class="entry live">
      <div class="entry-head flow wrap">
        <strong class="breaks">
          <bdi>{visibleText(agent)}</bdi>
        </strong>
        {text === '' && (
          <span class="muted">{writing === undefined ? runTexts.thinking : runTexts.writing(visibleText(writing.tool))}</span>
        )}
      </div>
      <div class="bubble panel dashed">
        <Reasoning text={reasoning} isOpen={text === ''} />
        {text !== '' && <Said text={tailOf(text)} />}
        {writing !== undefined && writing.text !== '' && <Said isMono text={tailOf(writing.text)} />}
      </div>
    </li>
  );
}

function tailOf(text: string): string {
  return text.length <= 3_900 ? text : `…${text.slice(-3_900)}`;
}
