import { useState } from 'preact/hooks';
import { messageOf } from '../../contract/errors';
import { isEnded } from '../../contract/events';
import { rootRunId } from '../../contract/record/child-runs';
import type { ShownRun } from '../../client/http/index';
import { byNow } from '../data/identity';
import { service } from '../data/service';
import { Button } from '../parts/button';
import { lazy } from '../parts/lazy';
import { useBusy } from '../parts/use-busy';
import { toast } from '../parts/toast';
import { runTexts } from '../texts/run';
import { canGoOn } from './can-go-on';

const CancelDialog = lazy(async () => (await import('./dialogs')).CancelDialog, <></>);
const TerminateDialog = lazy(async () => (await import('./dialogs')).TerminateDialog, <></>);

export interface ActionsProps {
  readonly view: ShownRun;
  readonly onDone: () => void;
}

export async function act<Done>(doing: () => Promise<Done>, told: string | ((done: Done) => string), onDone: () => void): Promise<void> {
  try {
    const done = await doing();
    toast(typeof told === 'string' ? told : told(done), { kind: 'good' });
  } catch (error) {
    toast(messageOf(error), { kind: 'bad', ms: 12_000 });
  }
  onDone();
}

export function RunActions({ view, onDone }: ActionsProps) {
  const { id, status } = view;
  const [open, setOpen] = useState<'cancel' | 'terminate' | undefined>(undefined);
  const { isBusy, start } = useBusy();
  const { actions, done } = runTexts;
  const isOpen = !isEnded(status);
  const isRoot = rootRunId(id) === id;
  const button = (name: 'resume' | 'retry' | 'upgrade', doing: () => Promise<void>) => (
    <Button {...(name === 'upgrade' ? {} : { kind: 'primary' })} needs="runs:control" disabled={isBusy} onClick={() => start(doing)}>
      {actions[name]}
    </Button>
  );
  return (
    <div class="flow wrap">
      {isOpen && (
        <Button needs="runs:control" onClick={() => setOpen('cancel')}>
          {actions.cancel}…
        </Button>
      )}
      {status === 'cancelled' && canGoOn(view) && button('resume', () => act(() => service.resume(id, byNow()), done.resume, onDone))}
      {status === 'failed' && canGoOn(view) && button('retry', () => act(() => service.retry(id, byNow()), done.retry, onDone))}
      {isOpen && isRoot && button('upgrade', () => act(() => service.upgrade(id), done.upgrade, onDone))}
      {isOpen && (
        <Button kind="danger" needs="runs:control" onClick={() => setOpen('terminate')}>
          {actions.terminate}…
        </Button>
      )}
      {open === 'cancel' && <CancelDialog id={id} onClose={() => setOpen(undefined)} onDone={onDone} />}
      {open === 'terminate' && <TerminateDialog id={id} onClose={() => setOpen(undefined)} onDone={onDone} />}
    </div>
  );
}
