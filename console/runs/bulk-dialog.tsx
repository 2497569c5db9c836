import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { CancelMode } from '../../contract/cancel';
import { cancelModes } from '../../contract/cancel';
import type { BulkAction } from '../../contract/service-facts';
import type { RunOutcome } from '../../http/index';
import { toMany } from '../data/bulk';
import { announce } from '../parts/announce';
import { Button } from '../parts/button';
import { Dialog } from '../parts/dialog';
import { visibleText } from '../parts/plain-text';
import { Named } from '../parts/said';
import { hrefOf } from '../routes';
import { texts } from '../texts';
import { runsTexts } from '../texts/runs';

interface BulkDialogProps {
  readonly action: BulkAction;
  readonly ids: readonly string[];
  readonly onClose: () => void;
  /** Told when something was done. */
  readonly onDone: () => void;
}

type Step = 'trying' | 'tried' | 'doing' | 'done';

/** First what would become of each, then what did. */
export function BulkDialog({ action, ids, onClose, onDone }: BulkDialogProps): JSX.Element {
  const [step, setStep] = useState<Step>('trying');
  const [asked, setAsked] = useState(ids.length);
  const [outcomes, setOutcomes] = useState<readonly RunOutcome[]>([]);
  const [mode, setMode] = useState<CancelMode>('now');
  const [reason, setReason] = useState('');
  const leaving = useRef(new AbortController());
  const words = runsTexts.bulk[action];
  useEffect(() => {
    const { signal } = leaving.current;
    void play(ids, true).then(() => !signal.aborted && setStep('tried'));
    return () => leaving.current.abort();
  }, []);
  const play = (wanted: readonly string[], isDryRun: boolean): Promise<void> => {
    setOutcomes([]);
    setAsked(wanted.length);
    const how = action === 'cancel' && !isDryRun ? { mode, ...(reason.trim() === '' ? {} : { reason: reason.trim() }) } : {};
    return toMany(wanted, {
      action,
      isDryRun,
      how,
      signal: leaving.current.signal,
      onPart: (part) => setOutcomes((before) => [...before, ...part]),
    });
  };
  const fits = outcomes.filter(({ error, moved }) => error === undefined && moved !== false);
  const unchanged = outcomes.filter(({ error, moved }) => error === undefined && moved === false);
  const refused = outcomes.filter(({ error }) => error !== undefined);
  const act = async (): Promise<void> => {
    const wanted = fits.map(({ id }) => id);
    setStep('doing');
    await play(wanted, false);
    setStep('done');
    onDone();
  };
  useEffect(() => {
    if (step === 'tried') announce(`${words.would(fits.length)} ${runsTexts.bulk.refused(refused.length)}`);
    if (step === 'done') announce(words.done(fits.length));
  }, [step]);
  const isBusy = step === 'trying' || step === 'doing';
  return (
    <Dialog title={words.title(ids.length)} onClose={onClose} isWide>
      <div class="runs-bulk" aria-busy={isBusy}>
        {isBusy && (
          <p role="status">
            {step === 'trying' ? runsTexts.bulk.trying : words.doing} {outcomes.length} / {asked}
            <progress max={asked} value={outcomes.length} aria-label={step === 'trying' ? runsTexts.bulk.trying : words.doing} />
          </p>
        )}
        {!isBusy && (
          <ul class="bulk-sums">
            <li class={fits.length > 0 ? 'good' : ''}>{step === 'done' ? words.done(fits.length) : words.would(fits.length)}</li>
            {unchanged.length > 0 && <li>{runsTexts.bulk.unchanged(unchanged.length)}</li>}
            {refused.length > 0 && (
              <li class="bad">{step === 'done' ? runsTexts.bulk.failed(refused.length) : runsTexts.bulk.refused(refused.length)}</li>
            )}
          </ul>
        )}
        {step === 'tried' && action === 'upgrade' && fits.length > 0 && <p class="muted">{runsTexts.bulk.upgradeHint}</p>}
        {step === 'tried' && action === 'cancel' && fits.length > 0 && (
          <div class="bulk-how">
            <label class="field">
              <span>{runsTexts.bulk.mode}</span>
              <select value={mode} onChange={({ currentTarget }) => setMode(currentTarget.value as CancelMode)}>
                {cancelModes.map((one) => (
                  <option key={one} value={one}>
                    {runsTexts.bulk.modes[one]}
                  </option>
                ))}
              </select>
            </label>
            <label class="field">
              <span>{runsTexts.bulk.reason}</span>
              <input value={reason} maxLength={500} autocomplete="off" onInput={({ currentTarget }) => setReason(currentTarget.value)} />
            </label>
          </div>
        )}
        {!isBusy && (
          <Outcomes outcomes={[...refused, ...(step === 'done' ? fits : []), ...unchanged]} action={action} isDone={step === 'done'} />
        )}
        <div class="actions">
          <Button onClick={onClose}>{step === 'done' ? texts.parts.close : runsTexts.bulk.leave}</Button>
          {step === 'tried' && fits.length > 0 && (
            <Button kind={action === 'cancel' ? 'danger' : 'primary'} onClick={() => void act()}>
              {words.act(fits.length)}
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  );
}

const mostShown = 200;

function Outcomes({
  outcomes,
  action,
  isDone,
}: {
  readonly outcomes: readonly RunOutcome[];
  readonly action: BulkAction;
  readonly isDone: boolean;
}): JSX.Element | null {
  if (outcomes.length === 0) return null;
  const words = runsTexts.bulk[action];
  return (
    // Long: it scrolls, also by the keys of somebody who has no mouse.
    <div class="bulk-outcomes" tabIndex={0} role="region" aria-label={runsTexts.bulk.each}>
      <ul>
        {outcomes.slice(0, mostShown).map(({ id, error, moved }) => (
          <li key={id} class={error === undefined ? '' : 'bad'}>
            <a href={hrefOf('runs', id)}>
              <Named isMono text={id} />
            </a>
            {error === undefined ? (
              <span class="muted">{moved === false ? runsTexts.bulk.same : isDone ? words.one : words.oneWould}</span>
            ) : (
              <span>
                <code>{error.code}</code> <bdi>{visibleText(error.message.slice(0, 400))}</bdi>
              </span>
            )}
          </li>
        ))}
      </ul>
      {outcomes.length > mostShown && <p class="muted">{runsTexts.bulk.more(outcomes.length - mostShown)}</p>}
    </div>
  );
}
