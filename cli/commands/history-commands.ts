import { join } from 'node:path';
import { saveHistories } from '../../client/record-history';
import { HoldfastError } from '../../contract/errors';
import { defined } from '../../contract/defined';
import { DirectoryDriver, snapshotStorage } from '../../host/snapshot-storage';
import type { Difference } from '../../worker/replay/differences';
import { replayHistories, type Replayed } from '../../worker/replay/replay-histories';
import { exitCodes } from '../output';
import { readSettings } from '../processes/process-settings';
import { reportError } from '../report-error';
import type { Terminal } from '../terminal';

const replayCodes = { same: 0, different: 1, failed: 2 } as const;

export interface SaveFlags {
  readonly output?: string;
  readonly tenant?: string;
}

export async function saveHistory(terminal: Terminal, id: string, { output, tenant }: SaveFlags): Promise<number> {
  const file = output ?? `${id}.json`;
  const histories = await saveHistories({ id, file, ...defined({ tenant }) });
  terminal.write(file);
  if (histories > 1)
    terminal.writeError(
      `The run continued as new, or was tried again: the file has its ${histories} histories. \`holdfast replay\` compares each.`,
    );
  return exitCodes.done;
}

export interface ReplayFlags {
  readonly config?: string;
  readonly changes?: string;
  readonly json?: boolean;
}

/** A CI must not take a failed replay for a difference, so the exit codes differ. */
export async function replayFiles(terminal: Terminal, files: readonly string[], flags: ReplayFlags): Promise<number> {
  try {
    return await replay(terminal, files, flags);
  } catch (error) {
    reportError(error, terminal);
    return replayCodes.failed;
  }
}

async function replay(terminal: Terminal, histories: readonly string[], flags: ReplayFlags): Promise<number> {
  const changes = changesOf(flags.changes);
  const { project, configuration } = await readSettings(flags);
  const dataConverter = snapshotStorage(project.config.storage ?? new DirectoryDriver(join(configuration.directory, 'snapshots')));
  const replayed = await replayHistories({ agents: project.agentsFile, histories, dataConverter, changes });
  if (flags.json === true) terminal.writeText(JSON.stringify(replayed.map(jsonOf), null, 2));
  else for (const one of replayed) showReplayed(one, changes, terminal);
  return replayed.some(({ error }) => error !== undefined) ? replayCodes.different : replayCodes.same;
}

function changesOf(given = 'commands'): 'commands' | 'requests' {
  if (given === 'commands' || given === 'requests') return given;
  throw new HoldfastError('command-invalid', `--changes is '${given}'. It must be commands or requests.`);
}

function jsonOf({ id, differences, error }: Replayed): object {
  return { id, differences, ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }) };
}

function showReplayed({ id, differences, error }: Replayed, changes: 'commands' | 'requests', terminal: Terminal): void {
  const { red, green, dim } = terminal.paint;
  const verdict = error !== undefined ? red(error.code) : differences.length === 0 ? green('same') : green('goes on');
  terminal.write(`${id}  ${verdict}`);
  for (const one of differences) terminal.write(`  ${one.message}${dim(noteOf(one, changes))}`);
  // The differences do not tell where Temporal noticed.
  if (error !== undefined && error.code !== 'requests-changed') terminal.write(`  ${dim(error.message)}`);
}

function noteOf({ kind }: Difference, changes: 'commands' | 'requests'): string {
  return kind === 'request' && changes === 'commands' ? ' (does not count without --changes requests)' : '';
}
