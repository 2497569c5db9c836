import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { messageOf } from '../../contract/errors';
import { isEnded } from '../../contract/events';
import { rootRunId } from '../../contract/record/child-runs';
import type { ShownRun } from '../../http/index';
import { service } from '../data/service';
import { Button } from '../parts/button';
import { lazy } from '../parts/lazy';
import { useBusy } from '../parts/use-busy';
import { toast } from '../parts/toast';
import { runTexts } from '../texts/run';
import { byNow } from './by-now';
import { canGoOn } from './can-go-on';

const CancelDialog = lazy(async () => (await import('./dialogs')).CancelDialog, <></>);
const TerminateDialog = lazy(async () => (await import('./dialogs')).TerminateDialog, <></>);

interface ActionsProps {
  readonly view: ShownRun;
  readonly onDone: () => void;
}

/** Does something with the run, and says what came of it. */
export async function act(doing: () => Promise<unknown>, told: string, onDone: () => void): Promise<void> {
  try {
    await doing();
    toast(told, { kind: 'good' });
  } catch (error) {
    toast(messageOf(error), { kind: 'bad', ms: 12_000 });
  }
  onDone();
}

/** What somebody can do with the run as it stands. */
export function RunActions({ view, onDone }: ActionsProps): JSX.Element {
  const { id, status } = view;
  const [open, setOpen] = useState<'cancel' | 'terminate' | undefined>(undefined);
  const [isBusy, start] = useBusy();
  const { actions, done } = runTexts;
  const isOpen = !isEnded(status);
  const isRoot = rootRunId(id) === id;
  const upgrade = async (): Promise<void> => {
    try {
      const { build, moved } = await service.upgrade(id);
      toast(done.upgrade(build, moved), { kind: 'good' });
    } catch (error) {
      toast(messageOf(error), { kind: 'bad', ms: 12_000 });
    }
    onDone();
  };
  return (
    <div class="run-actions">
      {isOpen && <Button onClick={() => setOpen('cancel')}>{actions.cancel}…</Button>}
      {status === 'cancelled' && canGoOn(view) && (
        <Button kind="primary" disabled={isBusy} onClick={() => start(() => act(() => service.resume(id, byNow()), done.resume, onDone))}>
          {actions.resume}
        </Button>
      )}
      {status === 'failed' && canGoOn(view) && (
        <Button kind="primary" disabled={isBusy} onClick={() => start(() => act(() => service.retry(id, byNow()), done.retry, onDone))}>
          {actions.retry}
        </Button>
      )}
      {isOpen && isRoot && (
        <Button disabled={isBusy} onClick={() => start(upgrade)}>
          {actions.upgrade}
        </Button>
      )}
      {isOpen && (
        <Button kind="danger" onClick={() => setOpen('terminate')}>
          {actions.terminate}…
        </Button>
      )}
      {open === 'cancel' && <CancelDialog id={id} onClose={() => setOpen(undefined)} onDone={onDone} />}
      {open === 'terminate' && <TerminateDialog id={id} onClose={() => setOpen(undefined)} onDone={onDone} />}
    </div>
  );
}
