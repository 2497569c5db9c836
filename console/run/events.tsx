import { useMemo, useState } from 'preact/hooks';
import type { RunEvent } from '../../contract/events';
import { Button } from '../parts/button';
import { CopyButton, useCopy } from '../parts/copy-button';
import { Dialog } from '../parts/dialog';
import { SearchField } from '../parts/fields';
import { visibleText } from '../parts/plain-text';
import { Said } from '../parts/said';
import { absoluteText } from '../parts/time';
import { VirtualList } from '../parts/virtual-list';
import { texts } from '../texts';
import { runTexts } from '../texts/run';

export function Events({ events, count }: { readonly events: readonly RunEvent[]; readonly count: number }) {
  const [filter, setFilter] = useState('');
  const [chosen, setChosen] = useState<RunEvent | undefined>(undefined);
  const asked = filter.trim().toLowerCase();
  const shown = useMemo(
    () => (asked === '' ? events.slice(0, count) : events.filter((event) => JSON.stringify(event).toLowerCase().includes(asked))),
    [asked, count],
  );
  return (
    <div class="events grow column">
      <div class="toolbar fixed flow wrap">
        <SearchField label={runTexts.events.filter} value={filter} onText={setFilter} />
        <span class="muted">{runTexts.events.count(shown.length, events.length)}</span>
        <span class="spacer" />
        <CopyAll events={shown} />
      </div>
      <VirtualList
        items={shown}
        rowHeight={30}
        keyOf={({ offset }) => String(offset)}
        label={runTexts.events.label}
        render={(event) => (
          <button type="button" class="event-row bare flow" title={absoluteText(event.time)} onClick={() => setChosen(event)}>
            <span class="event-offset fixed muted mono">{event.offset}</span>
            <span class="event-type fixed mono">{event.type}</span>
            <bdi class="grow cut muted mono">{visibleText(lineOfEvent(event))}</bdi>
          </button>
        )}
      />
      {chosen !== undefined && (
        <Dialog isWide title={`${chosen.offset} ${chosen.type}`} onClose={() => setChosen(undefined)}>
          <p class="muted">
            {absoluteText(chosen.time)} <CopyButton text={JSON.stringify(chosen, null, 2)} />
          </p>
          <Said isMono text={JSON.stringify(chosen, null, 2)} />
        </Dialog>
      )}
    </div>
  );
}

function CopyAll({ events }: { readonly events: readonly RunEvent[] }) {
  const { isCopied, copy } = useCopy();
  return (
    <Button kind="quiet" onClick={() => copy(JSON.stringify(events, null, 2))}>
      {isCopied ? texts.parts.copied : runTexts.events.copyAll}
    </Button>
  );
}

function lineOfEvent({ type: _, offset: __, time: ___, ...rest }: RunEvent): string {
  const text = JSON.stringify(rest);
  return text.length > 240 ? `${text.slice(0, 240)}…` : text;
}
