import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { HoldfastClient } from '../client/connect';
import { connect } from '../client/connect';
import type { Conversation } from '../client/conversation';
import type { RunEvent } from '../contract/events';
import type { BenchBed } from './setup';
import { median, rounded, startServer } from './setup';

const id = 'chat';
/** So many turns before a mark are its measure. */
const measured = 10;

/** What a reader of the whole log has seen. */
interface Seen {
  readonly turns: Map<string, number[]>;
  /** Settles when so many turns have ended. */
  ended(turns: number): Promise<void>;
}

/** One conversation of many messages from two clients, with two kills of its worker. */
export async function benchChat([given = '3000']: readonly string[]): Promise<object> {
  const messages = Number(given);
  if (!Number.isInteger(messages) || messages < 30)
    throw new Error(`The bench "chat" takes a number of messages from 30 on. It was given: ${given}.`);
  const marks = [measured, Math.round(messages / 3), messages];
  const kills = new Set([Math.round(messages / 4), Math.round(messages / 2)]);
  const bench = await startServer();
  let worker = await startWorker(bench);
  const clients = await Promise.all([1, 2].map(() => connect({ server: bench.server, taskQueue: 'herd' })));
  const chats = clients.map((client) => client.conversation('talks', id, { window: 50 }));
  const receipts = new Map<string, number | undefined>();
  const tookMs: number[] = [];
  try {
    await (chats[0] as Conversation).rename('Bench');
    const seen = follow(clients[0] as HoldfastClient);
    for (let position = 0; position < messages; position++) {
      if (kills.has(position)) {
        worker.kill('SIGKILL');
        await once(worker, 'exit');
        worker = await startWorker(bench);
      }
      const began = performance.now();
      const chat = chats[position % chats.length] as Conversation;
      const { turn } = await chat.send(`Message ${position}.`, { id: `m${position}`, by: `client ${position % chats.length}` });
      receipts.set(`m${position}`, turn);
      await seen.ended(position + 1);
      tookMs.push(performance.now() - began);
    }
    const opening = performance.now();
    const page = await (chats[1] as Conversation).transcript({ limit: 50 });
    const lastPageMs = performance.now() - opening;
    const ids = [...receipts.keys()];
    const lost = ids.filter((one) => seen.turns.get(one) === undefined).length;
    const doubled = ids.filter((one) => (seen.turns.get(one)?.length ?? 0) > 1).length;
    const untrue = ids.filter((one) => receipts.get(one) !== undefined && receipts.get(one) !== seen.turns.get(one)?.[0]).length;
    if (lost + doubled + untrue > 0 || page.messages.length !== 50) process.exitCode = 1;
    const turnMs = marks.map((mark) => rounded(median(tookMs.slice(mark - measured, mark)), 1));
    return {
      messages,
      marks,
      turnMs,
      ratio: rounded((turnMs.at(-1) ?? 0) / (turnMs[0] ?? 1), 2),
      lastPageMs: rounded(lastPageMs, 0),
      lost,
      doubled,
      untrue,
    };
  } finally {
    for (const client of clients) await client.close();
    worker.kill('SIGKILL');
    await bench.close();
  }
}

function follow(client: HoldfastClient): Seen {
  const turns = new Map<string, number[]>();
  let count = 0;
  let waiting: { readonly turns: number; readonly resolve: () => void } | undefined;
  const take = (event: RunEvent): void => {
    if (event.type === 'message') turns.set(event.id, [...(turns.get(event.id) ?? []), event.turn]);
    if (event.type !== 'turn-end') return;
    count = event.turn;
    if (waiting !== undefined && count >= waiting.turns) waiting.resolve();
  };
  const read = async (): Promise<void> => {
    for await (const event of client.run(id).events({ deltas: false })) take(event);
  };
  read().catch(() => undefined);
  const ended = (wanted: number): Promise<void> =>
    count >= wanted ? Promise.resolve() : new Promise((resolve) => (waiting = { turns: wanted, resolve }));
  return { turns, ended };
}

async function startWorker({ server, directory }: BenchBed): Promise<ChildProcess> {
  const child = fork(join(__dirname, 'herd-worker.js'), [server.address, directory, '0', 'answer'], { execArgv: [] });
  await once(child, 'message');
  return child;
}
