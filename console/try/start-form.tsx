import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Json } from '../../contract/messages/messages';
import { misfitsOfSchema } from '../../contract/schema/schema-fit';
import type { ListedAgent, StartedRun } from '../../http/index';
import { service } from '../data/service';
import { Button } from '../parts/button';
import { ErrorNote } from '../parts/error-note';
import { TextField } from '../parts/fields';
import { visibleText } from '../parts/plain-text';
import { SchemaForm } from '../parts/schema-form';
import { tryTexts } from '../texts/try';
import type { startOf } from './request';
import { StartedLine } from './started-run';

interface StartFormProps {
  readonly agent: ListedAgent;
  readonly input: Json | undefined;
  readonly onInput: (input: Json | undefined) => void;
  readonly start: ReturnType<typeof startOf>;
}

export function StartForm({ agent, input, onInput, start }: StartFormProps): JSX.Element {
  const [started, setStarted] = useState<readonly StartedRun[]>([]);
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const [misfits, setMisfits] = useState<readonly string[]>([]);
  const hasProblems = Object.keys(start.problems).length > 0;
  const begin = async (event: Event): Promise<void> => {
    event.preventDefault();
    const found = agent.takesJob && agent.inputSchema !== undefined ? misfitsOfSchema(agent.inputSchema, input ?? null) : [];
    setMisfits(found);
    setError(undefined);
    if (found.length > 0 || hasProblems || isBusy) return;
    setBusy(true);
    try {
      const run = await service.start(start.request);
      setStarted((before) => [run, ...before].slice(0, 20));
    } catch (problem) {
      setError(problem);
    }
    setBusy(false);
  };
  return (
    <form class="form stack start-form" noValidate onSubmit={(event) => void begin(event)}>
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
      <div class="actions start">
        <Button kind="primary" type="submit" disabled={isBusy || hasProblems}>
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
