import { defined } from '../../contract/defined';
import { HoldfastError, codeOf, messageOf } from '../../contract/errors';
import { exitCodes, told } from '../output';
import type { DryRunRequest, GoOnRequest } from '../../client/http/index';
import type { FoundService } from '../found-service';
import type { ListedRun } from '../../contract/service';
import { commandLine } from '../../contract/shell-words';
import type { Terminal } from '../terminal';
import { asWritten, type StartFilters } from './list-commands';

export type RetryFlags = StartFilters & GoOnRequest & DryRunRequest & { readonly status?: string };

const pageSize = 200;
const atOnce = 10;

export async function retryRuns(service: FoundService, terminal: Terminal, named: readonly string[], flags: RetryFlags): Promise<number> {
  const { by, deadline, dryRun, ...filters } = flags;
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  if (isFiltered === named.length > 0)
    throw new HoldfastError('request-invalid', 'retry takes either ids of runs, or filters, such as: --status failed --tag night.');
  if (isFiltered && filters.status !== 'failed')
    throw new HoldfastError('request-invalid', 'retry takes runs that have failed; say so beside the other filters: --status failed.');
  const ids = isFiltered ? (await failedRuns(service, filters)).map(({ id }) => id) : named;
  if (ids.length === 0) return told(terminal, 'There are no such runs.');
  if (dryRun === true) {
    for (const id of ids) terminal.write(`${id} would be retried`);
    return told(terminal, terminal.paint.dim(counted(ids.length, 'would be retried')));
  }
  let done = 0;
  const retry = async (id: string): Promise<void> => {
    try {
      await service.retry(id, defined({ by, deadline }));
      done += 1;
      terminal.write(`${id} goes on`);
    } catch (error) {
      // An unreachable service fails all runs.
      if (codeOf(error) === 'service-unreachable' || ids.length === 1) throw error;
      terminal.write(`${id} does not: ${codeOf(error) ?? 'internal'}: ${messageOf(error)}`);
    }
  };
  for (let from = 0; from < ids.length; from += atOnce) await Promise.all(ids.slice(from, from + atOnce).map(retry));
  if (ids.length > 1) terminal.write(terminal.paint.dim(counted(done, `of ${ids.length} go on`)));
  else terminal.write(terminal.paint.dim(`Follow it with: ${commandLine('events', ids[0] ?? '', '--follow', ...service.flags)}`));
  return done === ids.length ? exitCodes.done : exitCodes.failed;
}

/** A retried run leaves the list, so the list is read first. */
async function failedRuns(service: FoundService, filters: StartFilters): Promise<readonly ListedRun[]> {
  const runs: ListedRun[] = [];
  let after: string | undefined;
  do {
    const page = await service.list({ ...asWritten(filters), limit: pageSize, ...defined({ after }) });
    runs.push(...page.runs);
    after = page.next;
  } while (after !== undefined);
  return runs;
}

function counted(count: number, what: string): string {
  return `${count} ${count === 1 ? 'run' : 'runs'} ${what}.`;
}
