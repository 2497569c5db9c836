import type { Action, Author, Principal } from '../../contract/access';
import { defined } from '../../contract/defined';
import { HoldfastError, codeOf } from '../../contract/errors';
import type { MaybePromise } from '../../contract/maybe-promise';
import { runIdOf } from '../../contract/names';
import type { ListedRun } from '../../contract/service';

export type RunForCaller = Pick<ListedRun, 'id' | 'agent' | 'tags' | 'startedBy'>;

export interface KnownCaller extends Principal {
  readonly may: ReadonlySet<Action>;
  /** Decides about each run after `may`. An open stream gets the newest function. */
  mayWith?: ((action: Action, run: RunForCaller) => MaybePromise<boolean>) | undefined;
  /** For an audit log: decisions, and acts that the caller may not do. */
  readonly onAct?: (act: Act) => void;
}

export interface Act {
  /** Absent: the request named another author. */
  readonly action?: Action;
  readonly run?: string;
  readonly decision?: string;
  readonly interrupt?: string;
  /** The code of the error. Absent: the act counts. */
  readonly code?: string;
}

/** Every act of a client passes here: who acts, and whether the caller may. Without a caller anybody may, and names are claims. */
export class Authority {
  constructor(
    private readonly factsOf: (workflowId: string) => Promise<RunForCaller>,
    readonly caller?: KnownCaller,
  ) {}

  author({ by, roles }: { readonly by?: string | undefined; readonly roles?: readonly string[] | undefined }): Author {
    const { caller } = this;
    if (caller === undefined) return defined({ by, roles });
    const claimed = by !== undefined ? '`by`' : roles !== undefined ? '`roles`' : undefined;
    if (claimed === undefined) return { by: caller.user, roles: caller.roles, proof: caller.proof };
    const message = `The request says ${claimed}, and it comes from ${caller.user} (${caller.proof}), as the key, token or login says.`;
    const error = new HoldfastError('author-forbidden', message);
    caller.onAct?.({ code: error.code });
    throw error;
  }

  /** A reason that names the caller. */
  signed(reason: string): string {
    const { caller } = this;
    return caller === undefined ? reason : `${reason} (${caller.user}, ${caller.proof})`;
  }

  permit(action: Action, workflowId?: string): void {
    const { caller } = this;
    if (caller !== undefined && !caller.may.has(action)) throw this.refused(caller, action, workflowId);
  }

  /** `otherwise`: the run that the act would start. */
  async check(action: Action, workflowId: string, otherwise?: RunForCaller): Promise<void> {
    const { caller } = this;
    this.permit(action, workflowId);
    if (caller?.mayWith === undefined) return;
    const run = await this.factsOf(workflowId).catch((error: unknown) => {
      if (codeOf(error) === 'run-unknown') return otherwise;
      throw error;
    });
    // The act itself says that the run is unknown.
    if (run === undefined) return;
    const unknown = (): HoldfastError => new HoldfastError('run-unknown', `There is no run "${runIdOf(workflowId)}".`);
    await this.checkRun(action, run, unknown, workflowId);
  }

  /** `unknown`: the error for a caller who may not read the run. */
  async checkRun(action: Action, run: RunForCaller, unknown: () => HoldfastError, workflowId?: string): Promise<void> {
    const { caller } = this;
    this.permit(action, workflowId);
    if (caller?.mayWith === undefined || (await caller.mayWith(action, run)) === true) return;
    if (action === 'runs:read' || (await caller.mayWith('runs:read', run)) !== true) throw unknown();
    throw this.refused(caller, action, workflowId);
  }

  private refused(caller: KnownCaller, action: Action, workflowId: string | undefined): HoldfastError {
    const error = actionForbidden(caller, action);
    caller.onAct?.({ action, code: error.code, ...(workflowId === undefined ? {} : { run: runIdOf(workflowId) }) });
    return error;
  }

  /** Tells the audit log how a decision ended. */
  async decides(about: Omit<Act, 'code'>, decide: () => Promise<void>): Promise<void> {
    const { caller } = this;
    try {
      await decide();
      caller?.onAct?.(about);
    } catch (error) {
      caller?.onAct?.({ ...about, code: codeOf(error) ?? 'internal' });
      throw error;
    }
  }

  async readable<Row>(rows: readonly Row[], runOf: (row: Row) => RunForCaller): Promise<readonly Row[]> {
    const mayWith = this.caller?.mayWith;
    if (mayWith === undefined) return rows;
    const may = await Promise.all(rows.map(async (row) => (await mayWith('runs:read', runOf(row))) === true));
    return rows.filter((_, position) => may[position]);
  }
}

/** For what belongs to no single run, so that `may` of `identify` cannot decide about it. */
export function refuseLimited(caller: KnownCaller | undefined, refused: string): void {
  if (caller?.mayWith === undefined) return;
  throw new HoldfastError('action-forbidden', `${caller.user} may not ${refused}: \`identify\` limits ${caller.user} to some runs.`);
}

export function actionForbidden({ user, roles }: Principal, action: Action): HoldfastError {
  return new HoldfastError('action-forbidden', `${user} may not do this (${action}), with the roles: ${roles.join(', ') || 'none'}.`);
}
