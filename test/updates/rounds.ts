import { temporal as protocol } from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import type { HoldfastClient } from '../../client/connect';
import type { Json } from '../../contract/messages/messages';
import { names } from '../../contract/names';
import type { WorkflowBundle } from '../../worker/bundle/bundle';
import type { Random } from '../parity/random';
import type { Answerer } from '../support/answers';
import { calls, script, text } from '../support/answers';
import type { Temporal } from '../support/temporal';

type Execution = { readonly workflowId: string; readonly runId: string };

export interface Played {
  readonly rounds: number;
  readonly runs: number;
  readonly told: Readonly<Record<string, number>>;
  readonly recorded: number;
  readonly failures: readonly string[];
}

const questions = 12;
const roundsOfARun = 40;
const longestPauseMs = 4;
const approve = { type: 'approve' };

export const refunds: Answerer = script(
  calls(...Array.from({ length: questions }, (_, n) => ({ id: `r${n}`, name: 'refund', input: { orderId: String(n), amount: 100 + n } }))),
  text('Done.'),
);

const refused: Readonly<Record<string, (open: string) => Json>> = {
  'interrupt-unknown': () => ({ interruptId: 'none', answer: approve }),
  'answer-invalid': (open) => ({ interruptId: open, answer: 'yes' }),
  'answer-stale': (open) => ({ interruptId: open, answer: approve, inputHash: 'of others' }),
};

export class Rounds {
  private left: number;
  private readonly told: Record<string, number> = {};
  private readonly runs: string[] = [];

  constructor(
    private readonly client: HoldfastClient,
    private readonly temporal: Temporal,
    private readonly random: Random,
    private readonly rounds: number,
  ) {
    this.left = rounds;
  }

  async play(atOnce: number, bundle: WorkflowBundle): Promise<Played> {
    await Promise.all(Array.from({ length: atOnce }, () => this.playRuns()));
    const histories = (await Promise.all(this.runs.map((id) => this.history(id)))).flat();
    const failures = [...histories.flatMap(({ failed }) => failed), ...(await unreplayed(histories, bundle))];
    const recorded = histories.reduce((sum, one) => sum + one.refused, 0);
    return { rounds: this.rounds, runs: this.runs.length, told: this.told, recorded, failures };
  }

  private async playRuns(): Promise<void> {
    while (this.left > 0) {
      const run = await this.client.start('guarded', 'Go.');
      this.runs.push(run.id);
      await run.outcome();
      const open = (await run.interrupts()).map(({ id }) => id);
      for (let round = 0; round < roundsOfARun && this.left > 0; round++) {
        this.left -= 1;
        await this.playRound(run.id, open);
      }
      for (const id of open) await run.approve(id);
      const outcome = await run.outcome();
      if (outcome.status !== 'completed') throw new Error(`The run ${run.id} is ${JSON.stringify(outcome)}.`);
    }
  }

  /** One interrupt stays open, because an ended run refuses nothing. */
  private async playRound(runId: string, open: string[]): Promise<void> {
    const handle = this.temporal.handle(runId);
    const last = open.at(-1) ?? '';
    const update = (expected: string, answer: Json): Promise<void> =>
      handle.executeUpdate(names.answerUpdate, { args: [answer] }).then(
        () => this.note(expected, 'taken'),
        (error: unknown) => this.note(expected, (error as { cause?: { type?: string } }).cause?.type ?? String(error)),
      );
    const acts = Array.from({ length: 1 + this.random.below(3) }, () => {
      const [code = '', make] = this.random.of(Object.entries(refused));
      return () => update(code, make?.(last) ?? null);
    });
    const signals = this.random.below(3);
    for (let n = 0; n < signals; n++) acts.push(() => handle.signal(names.answerSignal, { interruptId: 'none', answer: n }));
    const next = this.random.below(10) < 3 && open.length > 1 ? open.shift() : undefined;
    if (next !== undefined) acts.push(() => update('taken', { interruptId: next, answer: approve }));
    await Promise.all(acts.map((act) => this.soon(act)));
  }

  private note(expected: string, said: string): void {
    const key = expected === said ? said : `${said} in place of ${expected}`;
    this.told[key] = (this.told[key] ?? 0) + 1;
  }

  private soon(act: () => Promise<void>): Promise<void> {
    const pause = this.random.below(longestPauseMs + 1);
    return pause === 0 ? act() : new Promise<void>((resolve) => setTimeout(resolve, pause)).then(act);
  }

  private async history(runId: string): Promise<readonly History[]> {
    const { workflowService } = this.temporal.connection;
    const histories: History[] = [];
    let execution: Execution | undefined = { workflowId: `default/${runId}`, runId: await this.temporal.executionOf(runId) };
    while (execution !== undefined) {
      const events: protocol.api.history.v1.IHistoryEvent[] = [];
      let nextPageToken: Uint8Array | undefined;
      do {
        const page = await workflowService.getWorkflowExecutionHistory({
          namespace: 'default',
          execution,
          ...(nextPageToken === undefined ? {} : { nextPageToken }),
        });
        events.push(...(page.history?.events ?? []));
        nextPageToken = page.nextPageToken;
      } while (nextPageToken !== undefined && nextPageToken.length > 0);
      histories.push({
        execution,
        events,
        failed: events.flatMap(({ workflowTaskFailedEventAttributes: failed }) =>
          failed ? [`${runId}: ${protocol.api.enums.v1.WorkflowTaskFailedCause[failed.cause ?? 0]} ${failed.failure?.message ?? ''}`] : [],
        ),
        refused: events.filter((event) => event.workflowExecutionUpdateCompletedEventAttributes?.outcome?.failure).length,
      });
      const before: string = events[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? '';
      execution = before === '' ? undefined : { ...execution, runId: before };
    }
    return histories;
  }
}

interface History {
  readonly execution: Execution;
  readonly events: readonly protocol.api.history.v1.IHistoryEvent[];
  readonly failed: readonly string[];
  readonly refused: number;
}

async function unreplayed(histories: readonly History[], bundle: WorkflowBundle): Promise<readonly string[]> {
  const failures: string[] = [];
  const all = histories.map(({ execution, events }) => ({ workflowId: execution.workflowId, history: { events: [...events] } }));
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle: { code: bundle.code } }, all))
    if (error !== undefined) failures.push(`${workflowId}: ${error.message}`);
  return failures;
}
