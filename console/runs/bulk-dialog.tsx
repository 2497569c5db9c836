import { useEffect, useRef, useState } from 'preact/hooks';
import type { CancelMode } from '../../contract/cancel';
import { cancelModes } from '../../contract/cancel';
import type { BulkAction } from '../../contract/service-facts';
import type { RunOutcome } from '../../client/http/index';
import { toMany } from '../data/bulk';
import { announce } from '../parts/toast';
import { Button } from '../parts/button';
import { Dialog } from '../parts/dialog';
import { Select, TextField } from '../parts/fields';
import { visibleText } from '../parts/plain-text';
import { Named } from '../parts/said';
import { hrefOf } from '../routes';
import { texts } from '../texts';
import { runsTexts } from '../texts/runs';

interface BulkDialogProps {
  readonly action: BulkAction;
  readonly ids: readonly string[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const words = runsTexts.bulk;

export function BulkDialog({ action, ids, onClose, onDone }: BulkDialogProps) {
  const [mode, setMode] = useState<CancelMode>('now');
  const [reason, setReason] = useState('');
  const { step, asked, outcomes, fits, unchanged, refused, act } = useBulk({ action, ids, onDone });
  const own = words[action];
  const isBusy = step === 'trying' || step === 'doing';
  const isDone = step === 'done';
  const doing = step === 'trying' ? words.trying : own.doing;
  const canAct = step === 'tried' && fits.length > 0;
  const how = action === 'cancel' ? { mode, ...(reason.trim() === '' ? {} : { reason: reason.trim() }) } : {};
  return (
    <Dialog title={own.title(ids.length)} onClose={onClose} isWide>
      <div class="stack" aria-busy={isBusy}>
        {isBusy ? (
          <p role="status">
            {doing} {outcomes.length} / {asked}
            <progress max={asked} value={outcomes.length} aria-label={doing} />
          </p>
        ) : (
          <ul>
            <li class={fits.length > 0 ? 'strong' : ''}>{isDone ? own.done(fits.length) : own.would(fits.length)}</li>
            {unchanged.length > 0 && <li>{words.unchanged(unchanged.length)}</li>}
            {refused.length > 0 && <li class="bad kind-text">{isDone ? words.failed(refused.length) : words.refused(refused.length)}</li>}
          </ul>
        )}
        {canAct && action === 'upgrade' && <p class="muted">{words.upgradeHint}</p>}
        {canAct && action === 'cancel' && (
          <div class="bulk-how">
            <label class="field">
              <span>{words.mode}</span>
              <Select label={words.mode} value={mode} options={cancelModes.map((one) => [one, words.modes[one]])} onChoose={setMode} />
            </label>
            <TextField label={words.reason} value={reason} onText={setReason} maxLength={500} />
          </div>
        )}
        {!isBusy && <Outcomes outcomes={[...refused, ...(isDone ? fits : []), ...unchanged]} done={isDone ? own.one : own.oneWould} />}
        <div class="actions flow wrap">
          <Button onClick={onClose}>{isDone ? texts.parts.close : words.leave}</Button>
          {canAct && (
            <Button kind={action === 'cancel' ? 'danger' : 'primary'} onClick={() => void act(how)}>
              {own.title(fits.length)}
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  );
}

type Step = 'trying' | 'tried' | 'doing' | 'done';
type How = Parameters<typeof toMany>[1]['how'];

function useBulk({ action, ids, onDone }: Omit<BulkDialogProps, 'onClose'>) {
  const [step, setStep] = useState<Step>('trying');
  const [asked, setAsked] = useState(ids.length);
  const [outcomes, setOutcomes] = useState<readonly RunOutcome[]>([]);
  const leaving = useRef(new AbortController());
  const { signal } = leaving.current;
  const play = (wanted: readonly string[], isDryRun: boolean, how: How): Promise<void> => {
    setOutcomes([]);
    setAsked(wanted.length);
    return toMany(wanted, { action, isDryRun, how, signal, onPart: (part) => setOutcomes((before) => [...before, ...part]) });
  };
  useEffect(() => {
    void play(ids, true, {}).then(() => !signal.aborted && setStep('tried'));
    return () => leaving.current.abort();
  }, []);
  const refused = outcomes.filter(({ error }) => error !== undefined);
  const unchanged = outcomes.filter(({ error, moved }) => error === undefined && moved === false);
  const fits = outcomes.filter(({ error, moved }) => error === undefined && moved !== false);
  const act = async (how: How): Promise<void> => {
    setStep('doing');
    await play(
      fits.map(({ id }) => id),
      false,
      how,
    );
    setStep('done');
    onDone();
  };
  useEffect(() => {
    if (step === 'tried') announce(`${words[action].would(fits.length)} ${words.refused(refused.length)}`);
    if (step === 'done') announce(words[action].done(fits.length));
  }, [step]);
  return { step, asked, outcomes, fits, unchanged, refused, act };
}

const mostShown = 200;

function Outcomes({ outcomes, done }: { readonly outcomes: readonly RunOutcome[]; readonly done: string }) {
  if (outcomes.length === 0) return null;
  return (
    // The tab stop lets people scroll without a mouse.
    <div class="bulk-outcomes" tabIndex={0} role="region" aria-label={words.each}>
      <ul>
        {outcomes.slice(0, mostShown).map(({ id, error, moved }) => (
          <li key={id} class={error === undefined ? '' : 'bad'}>
            <a href={hrefOf('runs', id)}>
              <Named isMono text={id} />
            </a>
            {error === undefined ? (
              <span class="muted">{moved === false ? words.same : done}</span>
            ) : (
              <span class="breaks">
                <code>{error.code}</code> <bdi>{visibleText(error.message.slice(0, 400))}</bdi>
              </span>
            )}
          </li>
        ))}
      </ul>
      {outcomes.length > mostShown && <p class="muted">{words.more(outcomes.length - mostShown)}</p>}
    </div>
  );
}
