import type { DataConverter, LoadedDataConverter } from '@temporalio/common';
import { defined } from '../../contract/defined';
import { HoldfastError, codeOf, messageOf } from '../../contract/errors';
import { names } from '../../contract/names';
import { readHistories, startOf } from '../../host/history/history-files';
import { withCompression } from '../../host/payloads/compression';
import { loadedConverter } from '../../host/payloads/loaded-converter';
import type { WorkflowBundle } from '../bundle/bundle';
import { bundleAgents } from '../bundle/bundle';
import { beginQuietReplay } from '../runtime';
import { askedText } from './asked-text';
import type { Difference } from './differences';
import { differencesOf } from './differences';
import { replayFailure, shownInJson } from './replay-failure';
import type { ReplayedRun } from './replay-worker';
import { replayRuns } from './replay-worker';
import { HistoryEvents } from './replayed-events';
import type { Step } from './steps';
import { stepsOf } from './steps';

export interface ReplayOptions {
  readonly agents: string;
  /** A file, a folder, a pattern such as `test/replay/*.json`, or several of them. */
  readonly histories: string | readonly string[];
  readonly bundle?: WorkflowBundle;
  /** The storage or codec of the recorded runs. */
  readonly dataConverter?: DataConverter;
  /**
   * The differences that are an error. `commands`: differences that stop an open run. `requests`: also changed requests to models, tools
   * and people. Default: `commands`.
   */
  readonly changes?: 'commands' | 'requests';
}

/**
 * The replay of one history: the differences to today's agents, and an `error` if an open run could not continue.
 * @example
 * const replayed: readonly Replayed[] = await replayHistories({ agents: 'agents.ts', histories: 'test/histories/*.json' });
 * for (const { id, differences, error } of replayed) {
 *   console.log(id, differences.length, error?.message ?? 'can continue');
 * }
 */
export class Replayed {
  /** The first error under `changes`. */
  declare readonly error?: HoldfastError;

  constructor(
    /** The name of the file without its extension, with a number if the file has several histories, as in `refund.2`. */
    readonly id: string,
    /** All differences, under any `changes`. */
    readonly differences: readonly Difference[],
    error: HoldfastError | undefined,
    private readonly steps: () => readonly Step[],
  ) {
    if (error !== undefined) this.error = error;
    // Test runners print and compare enumerable fields.
    Object.defineProperty(this, 'steps', { enumerable: false });
  }

  /** All requests of today's agents in this history, by address: a text for `toMatchSnapshot`. */
  get asked(): string {
    return askedText(this.steps());
  }
}

/**
 * Replays recorded histories with today's agents, and compares their requests. An error predicts the failure of open runs. A process with
 * its own `Runtime` of Temporal's SDK must install the runtime first.
 */
export async function replayHistories(options: ReplayOptions): Promise<readonly Replayed[]> {
  const { agents, histories, bundle, dataConverter, changes } = checkedOptions(options);
  const files = (await Promise.all([histories].flat().map((pattern) => readHistories(pattern)))).flat();
  const { code } = bundle ?? (await bundleAgents(agents ?? ''));
  const reading = withCompression(dataConverter);
  const converter = loadedConverter(reading);
  const replayed: Replayed[] = [];
  const endReplay = beginQuietReplay();
  try {
    for await (const run of replayRuns(code, files, reading)) replayed.push(await replayedOf(run, converter, changes ?? 'commands'));
  } catch (error) {
    if (codeOf(error) !== undefined) throw error;
    throw new HoldfastError('run-failed', `The replay came to no end: ${messageOf(error)}`, { cause: error });
  } finally {
    endReplay();
  }
  return replayed;
}

function checkedOptions(given: unknown): Partial<ReplayOptions> & Pick<ReplayOptions, 'histories'> {
  const options = (given ?? {}) as Partial<ReplayOptions>;
  const { agents, histories, bundle, changes } = options;
  if (!isHistories(histories) || (!isText(agents) && bundle === undefined))
    throw new HoldfastError(
      'request-invalid',
      'replayHistories takes agents, the path of the agents module, and histories: a file, a folder or a pattern.',
    );
  if (changes !== undefined && changes !== 'commands' && changes !== 'requests')
    throw new HoldfastError('request-invalid', `changes must be 'commands' or 'requests'. It is ${JSON.stringify(changes)}.`);
  return { ...options, histories };
}

function isHistories(value: unknown): value is ReplayOptions['histories'] {
  return Array.isArray(value) ? value.length > 0 && value.every(isText) : isText(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

async function replayedOf(run: ReplayedRun, converter: LoadedDataConverter, changes: 'commands' | 'requests'): Promise<Replayed> {
  const { file, activated, error: said } = run;
  const { id, place, history } = file;
  const started = startOf(history);
  const last = activated.at(-1);
  const error = said === undefined ? undefined : replayFailure(said, place, history, last);
  // Other workflows have no requests.
  if (started?.workflowType?.name !== names.workflow) return new Replayed(id, [], error, () => []);
  const events = new HistoryEvents(started.workflowId || id, converter);
  const recorded = await events.recorded(history);
  const today = await events.today(recorded, activated);
  const steps = stepsOf(today);
  const failed = last?.failure !== undefined;
  const compared = differencesOf({
    recorded: stepsOf(recorded),
    today: steps,
    failed,
    ...defined({ stoppedIn: error === undefined ? undefined : last?.task }),
  });
  const differences =
    error === undefined || compared.some(({ kind }) => kind === 'command') ? compared : [...compared, stopOf(error, steps)];
  const [first] = differences;
  const isChanged = changes === 'requests' && first !== undefined;
  const counted = error ?? (isChanged ? shownInJson('requests-changed', requestsChanged(place, first, differences.length)) : undefined);
  return new Replayed(id, differences, counted, () => steps);
}

function stopOf({ message }: HoldfastError, steps: readonly Step[]): Difference {
  return { address: steps.at(-1)?.address ?? '', kind: 'command', what: 'failure', later: 0, message };
}

function requestsChanged(place: string, { message }: Difference, count: number): string {
  const more = count === 1 ? '' : count === 2 ? ' One more difference.' : ` ${count - 1} more differences.`;
  return `${message}${more} (${place})`;
}
