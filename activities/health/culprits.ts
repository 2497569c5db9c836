import { defined } from '../../contract/defined';
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HoldfastError } from '../../contract/errors';
import { runIdOf } from '../../contract/names';
import { privateDirectory, privateFile } from '../../host/private-files';
import { tellAtWork } from './calls-at-work';
import type { Block, LoopClock, WatchedCall } from './loop-watch';
import { LoopWatch } from './loop-watch';

/** One call of a tool: the same for every attempt. */
export interface CulpritCall extends WatchedCall {
  readonly workflowId: string;
  /** No attempt came before this one, for certain. */
  readonly isFirst: boolean;
}

interface Deed {
  /** A clause that names the tool. */
  readonly what: string;
  readonly count: number;
  readonly isBlock: boolean;
  /** The calls that ran together in each of the blocks, when there were several. */
  readonly together?: string;
}

/** After so many times a call is not made again. */
const most = 2;
/** What a call did is read again by its next attempts, and those come soon. */
const keptMs = 86_400_000;

const remedy = 'Let the tool wait instead, or do such work in a child process or a worker thread.';

/**
 * Which tool calls ended or blocked their process. Their attempts are lost like those of a worker that somebody killed, and would be made
 * again, to the harm of all runs beside. What they did is kept in a file: of a process that ended nothing else is left, and the next attempt
 * may come to another one.
 */
export class Culprits {
  private readonly inside = new AsyncLocalStorage<CulpritCall>();
  private readonly loop: LoopWatch<CulpritCall>;
  /** Blocks are told once for each tool. */
  private readonly told = new Set<string>();

  constructor(
    private readonly directory: string,
    private readonly report: (problem: HoldfastError) => void,
    clock?: LoopClock,
  ) {
    this.loop = new LoopWatch((block) => this.blocked(block), clock);
  }

  /** Runs a call, and sees what it does to the process. One that has done harm twice is not run: then `refuse` is told why. */
  async watch<T>(call: CulpritCall, run: () => Promise<T>, refuse: (message: string) => T): Promise<T> {
    // This attempt can come in the very turn in which the one before it has blocked.
    this.loop.look();
    const key = keyOf(call);
    const deed = call.isFirst ? undefined : this.readDeed(key);
    if (deed !== undefined && deed.count >= most) {
      this.forget(key);
      return refuse(refusalOf(deed));
    }
    this.loop.begin(call);
    const end = tellAtWork({ tool: call.tool, address: call.address, run: runIdOf(call.workflowId) });
    try {
      return await this.inside.run(call, run);
    } finally {
      end();
      this.loop.end(call);
      if (deed !== undefined && isSame(deed, this.readDeed(key))) this.forget(key);
    }
  }

  /**
   * Runs a call that the server does not count, which would be made again by process after process, for ever. One that has not come back before
   * fails, and is made again as one that is counted.
   */
  async watchUncounted<T>(call: CulpritCall, run: () => Promise<T>): Promise<T> {
    const mark = this.fileOf(keyOf(call), 'begun');
    if (!this.leaveMark(mark)) throw new HoldfastError('tool-failed', 'The call before this one was lost with its process.');
    try {
      return await this.watch(call, run, (message) => {
        throw new HoldfastError('tool-failed', message);
      });
    } finally {
      unmark(mark);
    }
  }

  /** False: somebody left it before. */
  private leaveMark(mark: string): boolean {
    try {
      this.writeMark(mark);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return true;
      unmark(mark);
      return false;
    }
  }

  private writeMark(mark: string): void {
    const write = (): void => writeFileSync(mark, String(process.pid), { flag: 'wx', mode: privateFile });
    try {
      write();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      mkdirSync(this.directory, { recursive: true, mode: privateDirectory });
      write();
    }
  }

  /** Runs code of the tool that this call is of, up to where it first waits. */
  readonly measure = <T>(code: () => T): T => {
    const call = this.inside.getStore();
    return call === undefined ? code() : this.loop.measure(call, code);
  };

  /** The process ends. When the code of a call ended it, that is kept: nothing can be waited for here. */
  processEnds(code: number): void {
    const call = this.inside.getStore();
    if (call === undefined) return;
    const what = `The tool '${call.tool}' ended its process with code ${code}`;
    this.keep(call, what, false);
    this.tell(`${what}${placeOf(call)}.`);
  }

  /** Where more than one tool ran, nobody can say which it was: they are given up only when the same calls ran in each block. */
  private blocked({ calls, ms, isMeasured }: Block<CulpritCall>): void {
    const tools = [...new Set(calls.map(({ tool }) => tool))].sort();
    const [call] = calls;
    if (call === undefined) return;
    const lasted = `for ${Math.round(ms / 100) / 10} s`;
    const what =
      tools.length > 1
        ? `The process was blocked ${lasted} while the tools ${tools.map((tool) => `'${tool}'`).join(', ')} ran: by one of them`
        : isMeasured
          ? `The tool '${call.tool}' blocked its process ${lasted}`
          : `The process was blocked ${lasted} while the tool '${call.tool}' ran in it, and no other tool`;
    const each = new Map(calls.map((one) => [keyOf(one), one]));
    const together = tools.length === 1 ? undefined : [...each.keys()].sort().join(' ');
    for (const one of each.values()) this.keep(one, what, true, together);
    const names = tools.join(' ');
    if (this.told.has(names)) return;
    this.told.add(names);
    const place = tools.length === 1 ? placeOf(call) : '';
    this.tell(`${what}${place}. Meanwhile no heartbeat came from it, so that the server takes its calls for lost. ${remedy}`);
  }

  private tell(message: string): void {
    this.report(new HoldfastError('tool-failed', message));
  }

  private keep(call: CulpritCall, what: string, isBlock: boolean, together?: string): void {
    const key = keyOf(call);
    const before = this.readDeed(key);
    // What is known of this call alone counts for more.
    if (together !== undefined && before !== undefined && before.together === undefined) return;
    const count = before?.together === together ? (before?.count ?? 0) + 1 : 1;
    const deed: Deed = { what, count, isBlock, ...defined({ together }) };
    try {
      mkdirSync(this.directory, { recursive: true, mode: privateDirectory });
      writeFileSync(this.fileOf(key), JSON.stringify(deed), { mode: privateFile });
      this.forgetOld();
    } catch {
      // Then the server's own count of attempts ends it.
    }
  }

  private forget(key: string): void {
    rmSync(this.fileOf(key), { force: true });
  }

  /** Of calls that ended elsewhere, or whose last attempt did harm and was a success all the same. */
  private forgetOld(): void {
    for (const name of readdirSync(this.directory).filter((each) => /^(?:ended|begun)-/.test(each))) {
      const file = join(this.directory, name);
      if (Date.now() - statSync(file).mtimeMs > keptMs) rmSync(file, { force: true });
    }
  }

  private readDeed(key: string): Deed | undefined {
    try {
      const { what, count, isBlock, together } = JSON.parse(readFileSync(this.fileOf(key), 'utf8')) as Partial<Deed>;
      if (typeof what !== 'string' || typeof count !== 'number') return undefined;
      return { what, count, isBlock: isBlock === true, ...(typeof together === 'string' ? { together } : {}) };
    } catch {
      return undefined;
    }
  }

  private fileOf(key: string, kind: 'begun' | 'ended' = 'ended'): string {
    return join(this.directory, `${kind}-${createHash('sha256').update(key).digest('hex').slice(0, 32)}.json`);
  }
}

/** Each short call does so: `rmSync` takes three times as long. */
function unmark(mark: string): void {
  try {
    unlinkSync(mark);
  } catch {
    // Somebody else took it away, or the next call of this address finds it.
  }
}

/** Nothing was added. */
function isSame(before: Deed, now: Deed | undefined): boolean {
  return now?.count === before.count && now.together === before.together;
}

function refusalOf({ what, count, isBlock, together }: Deed): string {
  if (together !== undefined)
    return `${what}, ${count} times, and their heartbeats stopped. These calls are not made again: nothing else could run in that process. ${remedy}`;
  if (!isBlock) return `${what}, ${count} times. It is not called again: what runs beside it in its process was lost, too.`;
  return `${what}, ${count} times, and its heartbeats stopped. It is not called again: nothing else could run in that process. ${remedy}`;
}

function placeOf({ workflowId, address }: CulpritCall): string {
  return `, in the call ${address} of the run ${runIdOf(workflowId)}`;
}

function keyOf({ workflowId, runId, address }: CulpritCall): string {
  return `${workflowId}/${runId}/${address}`;
}
