import { useEffect, useState } from 'preact/hooks';
import { isEnded } from '../../contract/events';
import type { Json } from '../../contract/messages/messages';
import { misfitsOfSchema } from '../../contract/schema/schema-fit';
import type { ListedAgent, ShownRun, StartedRun } from '../../client/http/index';
import { usePoll } from '../data/live';
import { service } from '../data/service';
import { Button } from '../parts/button';
import { ErrorNote } from '../parts/error-note';
import { TextField } from '../parts/fields';
import { visibleText } from '../parts/plain-text';
import { Named, Said } from '../parts/said';
import { SchemaForm } from '../parts/schema-form';
import { StatusBadge } from '../parts/status-badge';
import { useBusy } from '../parts/use-busy';
import { hrefOf } from '../routes';
import { tryTexts } from '../texts/try';
import type { startOf } from './request';

interface StartFormProps {
  readonly agent: ListedAgent;
  readonly input: Json | undefined;
  readonly onInput: (input: Json | undefined) => void;
  readonly start: ReturnType<typeof startOf>;
}

export function StartForm({ agent, input, onInput, start }: StartFormProps) {
  const [started, setStarted] = useState<readonly StartedRun[]>([]);
  const { isBusy, error, setError, start: act } = useBusy();
  const [misfits, setMisfits] = useState<readonly string[]>([]);
  const hasProblems = Object.keys(start.problems).length > 0;
  const begin = (event: Event): void => {
    event.preventDefault();
    const found = agent.takesJob && agent.inputSchema !== undefined ? misfitsOfSchema(agent.inputSchema, input ?? null) : [];
    setMisfits(found);
    setError(undefined);
    if (found.length > 0 || hasProblems) return;
    act(async () => {
      const run = await service.start(start.request);
      setStarted((before) => [run, ...before].slice(0, 20));
    });
  };
  return (
    <form class="form stack start-form" noValidate onSubmit={begin}>
      {agent.takesJob ? (
        <SchemaForm schema={agent.inputSchema} value={input} onChange={onInput} misfits={misfits} label={tryTexts.job} />
      ) : (
        <TextField label={tryTexts.input} value={typeof input === 'string' ? input : ''} onText={onInput} rows={6} />
      )}
      {misfits.length > 0 && (
        <p class="misfit" role="alert">
          {visibleText(tryTexts.misfit(misfits.join('; ')))}
        </p>
      )}
      {error !== undefined && <ErrorNote error={error} />}
      <div class="actions start flow wrap">
        <Button kind="primary" type="submit" needs="runs:start" disabled={isBusy || hasProblems}>
          {tryTexts.start}
        </Button>
      </div>
      {started.length > 0 && (
        <ul class="started" aria-label={tryTexts.started} aria-live="polite">
          {started.map((run) => (
            <StartedLine key={run.id} run={run} />
          ))}
        </ul>
      )}
    </form>
  );
}

function StartedLine({ run: { id, isNew, ignored } }: { readonly run: StartedRun }) {
  const [ended, setEnded] = useState<ShownRun>();
  return (
    <li class="flow wrap">
      {isNew ? tryTexts.isNew : tryTexts.wasThere}{' '}
      <a href={hrefOf('runs', id)}>
        <Named isMono text={id} />
      </a>
      {ended === undefined ? <OpenRun id={id} onEnded={setEnded} /> : <Standing run={ended} />}
      {ignored !== undefined && <span class="muted"> {tryTexts.ignored(ignored.join(', '))}</span>}
    </li>
  );
}

function OpenRun({ id, onEnded }: { readonly id: string; readonly onEnded: (run: ShownRun) => void }) {
  const run = usePoll(`started ${id}`, () => service.view(id)).value;
  useEffect(() => {
    if (run !== undefined && isEnded(run.status)) onEnded(run);
  }, [run]);
  return run === undefined ? null : <Standing run={run} />;
}

function Standing({ run: { status, text, output, error } }: { readonly run: ShownRun }) {
  const result = error?.message ?? text ?? (output === undefined ? undefined : JSON.stringify(output));
  return (
    <>
      <StatusBadge status={status} />
      {isEnded(status) && result !== undefined && <Said text={result} />}
    </>
  );
}
