import type { Forms } from '../contract/check';
import { filled, form, required } from '../contract/check';
import { defaultTenant, workflowIdOf } from '../contract/names';
import { isAnyRunId } from '../contract/record/child-runs';
import type { History } from '../host/history/history-files';
import { writeHistories } from '../host/history/history-files';
import type { ExecutionRef, HistorySource } from '../host/history/history-pages';
import { oldestPages } from '../host/history/history-pages';
import { withSystemCodes } from '../host/system-errors';
import type { ConnectOptions } from './connection/connect-options';
import { openConnection, withDefaults } from './connection/which-server';
import { answered } from './connection/lost-server';
import { optionsOf } from './connection/options';
import { loadedWithCompression } from '../host/payloads/compression';
import { loadedConverter } from '../host/payloads/loaded-converter';
import { Histories } from './reading/histories';

export interface RecordOptions extends Pick<ConnectOptions, 'address' | 'server' | 'tenant'> {
  readonly id: string;
  /** The target, such as `test/replay/refund.json`. */
  readonly file: string;
}

const forms: Forms<Pick<RecordOptions, 'id' | 'file'>> = {
  id: required(form(isAnyRunId, 'the id of a run')),
  file: required(filled),
};

/**
 * Saves the history of an open or ended run for `replayHistories`, with all continue-as-new and retry parts in one file. Returns the file.
 */
export async function recordHistory(options: RecordOptions): Promise<readonly string[]> {
  await saveHistories(options);
  return [options.file];
}

/** Returns the number of histories. */
export async function saveHistories(options: RecordOptions): Promise<number> {
  const { id, file, ...others } = optionsOf(options, 'recordHistory', forms);
  const where = await withDefaults(others);
  const { connection, namespace, close } = await openConnection(where);
  try {
    const workflowId = workflowIdOf(where.tenant ?? defaultTenant, id);
    const converter = loadedWithCompression(loadedConverter(where.dataConverter), where.compress);
    const source = new Histories(connection, namespace, converter);
    const chain = await source.chain(workflowId);
    const histories: History[] = [];
    for (let runId: string | undefined = chain.firstRunId; runId !== undefined;) {
      const execution: ExecutionRef = { workflowId, runId };
      const events: readonly Event[] = await answered(allEvents(source, execution));
      histories.push({ events: [...events] });
      runId = events.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? chain.retries.get(runId);
    }
    await withSystemCodes('saving a history', () => writeHistories(file, histories));
    return histories.length;
  } finally {
    await close();
  }
}

async function allEvents(source: HistorySource<Event>, execution: ExecutionRef): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const page of oldestPages(source, execution, false)) events.push(...page);
  return events;
}

type Event = NonNullable<History['events']>[number];
