import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { PolicyOutcome } from '../../client/index';
import type { DryRunRequest } from '../../client/http/index';
import { exitCodes, type JsonFlag } from '../output';
import type { FoundService } from '../found-service';
import type { Terminal } from '../terminal';
import type { ByFlag } from './conversation-commands';
import type { StartFilters } from './list-commands';

export type ApplyFlags = StartFilters & JsonFlag & DryRunRequest & ByFlag & { readonly to: string };

const pageSize = 100;

/** Exit code 1: a run could not be asked. */
export async function applyPolicy(service: FoundService, terminal: Terminal, policy: string, flags: ApplyFlags): Promise<number> {
  const { to, json, ...body } = flags;
  if (to !== 'waiting') throw new HoldfastError('request-invalid', `policy apply takes --to waiting, not --to ${to}.`);
  const counts = { asked: 0, unchanged: 0, left: 0, failed: 0 };
  let after: string | undefined;
  let version: string;
  do {
    const page = await service.applyPolicy(policy, { to: 'waiting', ...defined(body), limit: pageSize, ...defined({ after }) });
    for (const outcome of page.outcomes) {
      counts[outcome.outcome] += 1;
      if (json === true) terminal.write(JSON.stringify(outcome));
      else if (outcome.outcome !== 'unchanged') terminal.write(lineOf(outcome, flags.dryRun === true));
    }
    version = page.version;
    after = page.next;
  } while (after !== undefined);
  if (json !== true) {
    const { asked, unchanged, left, failed } = counts;
    const done = flags.dryRun === true ? 'would be asked again' : 'asked again';
    const rest = [
      `${unchanged} unchanged`,
      ...(left === 0 ? [] : [`${left} left for a worker`]),
      ...(failed === 0 ? [] : [`${failed} failed`]),
    ];
    terminal.write(terminal.paint.dim(`${policy} ${version}: ${asked} ${done}, ${rest.join(', ')}.`));
  }
  return counts.failed === 0 ? exitCodes.done : exitCodes.failed;
}

function lineOf({ runId, tool, outcome, added, error }: PolicyOutcome, isDry: boolean): string {
  if (error !== undefined) return `${runId} ${tool}: ${error.code}: ${error.message}`;
  const whom = added.map(
    ({ name, by, need }) => name ?? [...(by.users ?? []), ...(by.roles ?? []), ...(need > 1 ? [`${need} of them`] : [])].join(', '),
  );
  const done = outcome === 'left' ? 'asks again when a worker runs' : isDry ? 'would ask' : 'asks again';
  return `${runId} ${tool}: ${done}: ${whom.map((name) => (name === '' ? 'anybody' : name)).join('; ')}`;
}
