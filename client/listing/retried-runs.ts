import { names } from '../../contract/names';
import type { AskPage, ExecutionPage, ListedExecution } from '../reading/executions';
import { pagesOf } from '../reading/executions';

const idsAtOnce = 100;

/** The server keeps failed executions of retried runs. */
export async function withoutRetried(ask: AskPage, page: ExecutionPage): Promise<ExecutionPage> {
  const retried = new Set(await retriedIn(ask, page.executions));
  return { ...page, executions: page.executions.filter((execution) => !retried.has(execution)) };
}

export async function countRetried(ask: AskPage, query: string): Promise<number> {
  let count = 0;
  for await (const { executions } of pagesOf(ask, query)) count += (await retriedIn(ask, executions)).length;
  return count;
}

async function retriedIn(ask: AskPage, executions: readonly ListedExecution[]): Promise<readonly ListedExecution[]> {
  const failed = executions.filter(({ status: { name } }) => name === 'FAILED');
  const ids = [...new Set(failed.map(({ workflowId }) => workflowId))];
  const newest = new Map<string, number>();
  for (let from = 0; from < ids.length; from += idsAtOnce) {
    const some = ids.slice(from, from + idsAtOnce);
    const query = `WorkflowType = '${names.workflow}' AND WorkflowId IN (${some.map((id) => `'${id}'`).join(', ')}) AND ExecutionStatus != 'ContinuedAsNew'`;
    for await (const page of pagesOf(ask, query))
      for (const { workflowId, startTime } of page.executions)
        newest.set(workflowId, Math.max(newest.get(workflowId) ?? 0, startTime.getTime()));
  }
  return failed.filter(({ workflowId, startTime }) => startTime.getTime() < (newest.get(workflowId) ?? 0));
}
