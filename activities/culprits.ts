import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HoldfastError } from '../contract/plain/errors';
import { runIdOf } from '../contract/plain/names';
import { privateDirectory, privateFile } from '../host/private-files';

/** One call of a tool: the same for every attempt. */
export interface CulpritCall {
  readonly workflowId: string;
  readonly runId: string;
  readonly address: string;
  readonly tool: string;
  /** No attempt came before this one, for certain. */
  readonly isFirst: boolean;
}

interface Deed {
  readonly what: string;
  readonly count: number;
}

/** After so many times a call is not made again. */
const most = 2;

/**
 * Which tool calls ended their process. Their attempts are lost like those of a worker that somebody killed, and would be made again, to the
 * harm of all runs beside. What ends the process is kept in a file, as nothing else is left of it.
 */
export class Culprits {
  private readonly inside = new AsyncLocalStorage<CulpritCall>();

  constructor(
    private readonly directory: string,
    private readonly report: (problem: HoldfastError) => void,
  ) {}

  /** Runs a call, and sees what it does to the process. One that has done harm twice is not run: then `refuse` is told why. */
  async watch<T>(call: CulpritCall, run: () => Promise<T>, refuse: (message: string) => T): Promise<T> {
    const key = keyOf(call);
    const deed = call.isFirst ? undefined : this.readDeed(key);
    if (deed !== undefined && deed.count >= most) {
      this.forget(key);
      return refuse(
        `The tool '${call.tool}' ${deed.what}, ${deed.count} times. It is not called again: what runs beside it in its process was lost, too.`,
      );
    }
    return this.inside.run(call, run);
  }

  /** The process ends. When the code of a call ended it, that is kept: nothing can be waited for here. */
  processEnds(code: number): void {
    const call = this.inside.getStore();
    if (call === undefined) return;
    const key = keyOf(call);
    const what = `ended its process with code ${code}`;
    const count = (this.readDeed(key)?.count ?? 0) + 1;
    try {
      mkdirSync(this.directory, { recursive: true, mode: privateDirectory });
      writeFileSync(this.fileOf(key), JSON.stringify({ what, count } satisfies Deed), { mode: privateFile });
    } catch {
      // Then the server's own count of attempts ends it.
    }
    this.tell(call, what);
  }

  private tell({ workflowId, address, tool }: CulpritCall, what: string): void {
    this.report(new HoldfastError('tool-failed', `The tool '${tool}' ${what}, in the call ${address} of the run ${runIdOf(workflowId)}.`));
  }

  private forget(key: string): void {
    rmSync(this.fileOf(key), { force: true });
  }

  private readDeed(key: string): Deed | undefined {
    try {
      const { what, count } = JSON.parse(readFileSync(this.fileOf(key), 'utf8')) as Partial<Deed>;
      return typeof what === 'string' && typeof count === 'number' ? { what, count } : undefined;
    } catch {
      return undefined;
    }
  }

  private fileOf(key: string): string {
    return join(this.directory, `ended-${createHash('sha256').update(key).digest('hex').slice(0, 32)}.json`);
  }
}

function keyOf({ workflowId, runId, address }: CulpritCall): string {
  return `${workflowId}/${runId}/${address}`;
}
