import { readChain } from '../client/reading/chain';
import type { ConnectOptions } from '../client/connect';
import { serverOf, withDefaults } from '../client/connect';
import { defaultTenant, workflowIdOf } from '../contract/names';
import { connectTemporal } from '../host/connection';
import { oldestPages } from '../host/history/history-pages';
import type { History } from './history-files';
import { writeHistory } from './history-files';

export interface RecordOptions extends Pick<ConnectOptions, 'address' | 'server' | 'tenant'> {
  /** The run's id. */
  readonly id: string;
  /** Where to, such as `test/replay/refund.json`. A run that continued as new gives one file for each part: `refund.1.json`, … */
  readonly file: string;
}

/** Saves what really happened in a run, ended or open, for `replayHistories`. Returns the files. */
export async function recordHistory({ id, file, ...options }: RecordOptions): Promise<readonly string[]> {
  const where = await withDefaults(options);
  const server = serverOf(where);
  const { connection, close } = await connectTemporal(server);
  try {
    const workflowId = workflowIdOf(where.tenant ?? defaultTenant, id);
    const source = { workflowService: connection.workflowService, namespace: server.namespace };
    const histories: History[] = [];
    let runId: string | undefined = (await readChain(connection, server.namespace, workflowId, id)).firstRunId;
    while (runId !== undefined) {
      const events = [];
      for await (const page of oldestPages(source, { workflowId, runId }, false)) events.push(...page);
      histories.push({ events });
      runId = events.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined;
    }
    const files = histories.map((_, part) => (histories.length === 1 ? file : file.replace(/(\.json)?$/, `.${part + 1}.json`)));
    for (const [part, history] of histories.entries()) await writeHistory(files[part] as string, history);
    return files;
  } finally {
    await close();
  }
}
