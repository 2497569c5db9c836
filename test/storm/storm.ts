import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HoldfastClient } from '../../client/connect';
import { messageOf } from '../../contract/errors';
import type { WorkflowBundle } from '../../worker/bundle/bundle';
import type { ParityBed } from '../parity/bed';
import { comparable } from '../parity/comparable';
import { whatDiffers } from '../parity/contest';
import { stormyScriptOf } from '../parity/generate';
import type { KilledWorker } from '../parity/killed-worker';
import type { Played as PlayedScript } from '../parity/play';
import { follow, lead } from '../parity/play';
import type { Script } from '../parity/script';
import { tableInMemory, tableOnServer } from '../parity/tables';
import type { Temporal } from '../support/temporal';
import type { Examined } from './histories';
import { examine, forget, keepHistories } from './histories';
import type { Outcome, Played } from './record';
import type { Conditions } from './settings';
import type { Showers } from './weather';
import { beginShowers } from './weather';
import { untilStuck } from './watch';

export interface Sea {
  readonly client: HoldfastClient;
  readonly worker: KilledWorker;
  readonly temporal: Temporal;
  readonly bundle: WorkflowBundle;
  readonly conditions: Conditions;
  folderOf(seed: number): string;
}

export class Storm {
  private examining: Promise<unknown> = Promise.resolve();

  constructor(private readonly sea: Sea) {}

  async play(seed: number): Promise<Played> {
    const began = Date.now();
    const { temporal, conditions } = this.sea;
    const id = `storm-${seed}`;
    const memory = await leadInOrder(stormyScriptOf(`storm/${seed}`), id);
    const ids = [id, ...memory.parts.map(({ place }) => `${id}${place}`)];
    const folder = this.sea.folderOf(seed);
    const over = new AbortController();
    let stuck: string | undefined;
    const watching = untilStuck(this.sea, ids, over.signal).then(async (reason) => {
      if (reason === undefined) return;
      stuck = reason;
      await keepHistories(ids, folder);
      await this.terminate(ids);
    });
    let showers: Showers | undefined;
    let server: PlayedScript | undefined;
    const problems: [Outcome, string][] = [];
    try {
      server = await follow(memory, id, async (script, runId, places) => {
        const table = await tableOnServer(
          this.bed(() => stuck !== undefined),
          temporal,
          script,
          runId,
          places,
        );
        showers = beginShowers(temporal, `${seed}`, ids, conditions);
        return table;
      });
    } catch (error) {
      problems.push(['broken', error instanceof Error ? (error.stack ?? error.message) : String(error)]);
    }
    over.abort();
    await watching;
    await showers?.end();
    if (stuck === undefined) await keepHistories(ids, folder);
    else problems.unshift(['stuck', stuck]);
    await this.terminate(ids);
    const examined = await this.examined(folder);
    problems.push(...examined.problems.map((text): [Outcome, string] => ['unreplayable', text]));
    if (server !== undefined) {
      problems.push(...faultsOfPayments(memory, server).map((text): [Outcome, string] => ['paid wrongly', text]));
      const difference = whatDiffers({ memory, server });
      if (difference !== '') problems.push(['different', difference]);
    }
    const [first] = problems;
    if (first === undefined) forget(folder);
    else keepComparison(folder, memory, server, problems);
    const { queries, refused, unanswered, signals, updates } = showers?.asked ?? {
      queries: 0,
      refused: 0,
      unanswered: 0,
      signals: 0,
      updates: 0,
    };
    const { tasks, timeouts, failedTasks, histories } = examined;
    return {
      seed,
      outcome: first === undefined ? 'same' : first[0],
      problems: problems.map(([, text]) => text.slice(0, 1000)),
      agent: memory.script.agent,
      seconds: Math.round((Date.now() - began) / 1000),
      counts: {
        tasks,
        timeouts,
        failedTasks,
        histories,
        queries,
        refused,
        unanswered,
        signals,
        updates,
        payments: server === undefined ? 0 : paymentsOf(server).length,
      },
    };
  }

  private bed(isStuck: () => boolean): ParityBed {
    const stays = (): Promise<never> => Promise.reject(new Error('The worker of a storm stays.'));
    return {
      client: this.sea.client,
      leave: stays,
      comeBack: stays,
      kill: () => undefined,
      disturbedAt: () => (isStuck() ? 0 : Date.now()),
      close: async () => undefined,
    };
  }

  private async terminate(ids: readonly string[]): Promise<void> {
    for (const id of ids)
      await this.sea.temporal
        .handle(id)
        .terminate('The storm is over.')
        .catch(() => undefined);
  }

  /** One replay at a time, because parallel replays delay each other. */
  private async examined(folder: string): Promise<Examined> {
    const examining = this.examining
      .then(() => examine(folder, this.sea.bundle))
      .catch((error: unknown) => ({
        tasks: 0,
        timeouts: 0,
        failedTasks: 0,
        histories: 0,
        problems: [`the replay failed: ${messageOf(error)}`],
      }));
    this.examining = examining;
    return examining;
  }
}

/** Answers that void other answers have no fixed order on a server, so the script answers one by one. */
async function leadInOrder(script: Script, id: string): Promise<PlayedScript> {
  const led = await lead(script, id, tableInMemory);
  const isRefused = led.moves.some(({ acts }) =>
    acts.some((act, position) => position > 0 && act.do === 'answer' && act.refused !== undefined),
  );
  return isRefused && script.together ? lead({ ...script, together: false }, id, tableInMemory) : led;
}

function paymentsOf({ play }: PlayedScript): readonly string[] {
  const calls = play.used as unknown as readonly { readonly tool: string; readonly idempotencyKey: string }[];
  return calls.filter(({ tool }) => tool === 'pay').map(({ idempotencyKey }) => idempotencyKey);
}

function faultsOfPayments(memory: PlayedScript, server: PlayedScript): readonly string[] {
  const [wanted, paid] = [new Set(paymentsOf(memory)), paymentsOf(server)];
  const twice = [...new Set(paid.filter((key, position) => paid.indexOf(key) !== position))].map((key) => `${key} is paid more than once`);
  const never = [...wanted].filter((key) => !paid.includes(key)).map((key) => `${key} is not paid`);
  const more = [...new Set(paid)].filter((key) => !wanted.has(key)).map((key) => `${key} is paid, and is not in memory`);
  return [...twice, ...never, ...more];
}

function keepComparison(folder: string, memory: PlayedScript, server: PlayedScript | undefined, problems: readonly unknown[]): void {
  const kept = { problems, script: memory.script, memory: comparable(memory), server: server === undefined ? [] : comparable(server) };
  writeFileSync(join(folder, 'comparison.txt'), `${JSON.stringify(kept, undefined, 1)}\n`);
}
