import { pathToFileURL } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { randomWords } from '../report/numbers';
import type { Peer, PeerModule, Said, ToolName } from './peer';
import { textBytes } from './protocol';
import type { ChildSetup, Command, Reply } from './protocol';

const setup = JSON.parse(process.argv[2] ?? '{}') as ChildSetup;
const prefix = `${process.pid}-${Date.now() % 1_000_000}`;
const atOnce = 20;
let ids = 0;
let begun: () => void = () => undefined;

/** A task is a tool's name, the number of calls, and the run's name. */
function model(task: string, done: number): Said {
  const [name = '', turns = '0', run = ''] = task.split(' ');
  const turn = done + 1;
  const text = randomWords(textBytes);
  return turn > Number(turns) ? { text } : { text, call: { id: `call-${turn}`, name: name as ToolName, input: { run, turn } } };
}

async function open(): Promise<Peer> {
  const { open } = (await import(pathToFileURL(setup.adapter).href)) as PeerModule;
  return open({
    ...setup,
    model,
    words: () => randomWords(textBytes),
    async pay({ run, turn }, key) {
      await fetch(setup.payments, { method: 'POST', body: JSON.stringify({ run, turn, key }) });
      if (turn === setup.hangsIn) await delay(3_600_000);
      return randomWords(textBytes);
    },
    refund() {
      begun();
      return 'paid';
    },
  });
}

const newId = (): string => `${prefix}-${ids++}`;

async function timed(act: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await act();
  return performance.now() - began;
}

async function answered(peer: Peer): Promise<number> {
  const id = newId();
  await peer.park(id, `refund 1 ${id}`);
  const start = new Promise<number>((resolve) => {
    begun = () => resolve(performance.now());
  });
  const sent = performance.now();
  const ended = peer.answer(id);
  const ms = (await start) - sent;
  await ended;
  return ms;
}

/** Memory after the main thread's garbage collection. */
async function memory(): Promise<number> {
  for (let pass = 0; pass < 3; pass++) {
    globalThis.gc?.();
    await delay(200);
  }
  return process.memoryUsage().rss;
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

interface Measured {
  readonly ms?: readonly number[];
  readonly value?: number;
}

async function obey(peer: Peer, command: Command): Promise<Measured> {
  switch (command.do) {
    case 'run': {
      const id = newId();
      return { ms: [await timed(() => peer.run(id, `words ${command.turns} ${id}`))] };
    }
    case 'many': {
      const before = cpuMs();
      const names = Array.from({ length: command.runs }, newId);
      const ms = await timed(() => Promise.all(names.map((id) => peer.run(id, `words ${command.turns} ${id}`))));
      return { ms: [ms], value: cpuMs() - before };
    }
    case 'answers': {
      const ms: number[] = [];
      for (let time = 0; time < command.times; time++) ms.push(await answered(peer));
      return { ms };
    }
    case 'park': {
      for (let left = command.runs; left > 0; left -= atOnce) {
        const names = Array.from({ length: Math.min(atOnce, left) }, newId);
        await Promise.all(names.map((id) => peer.park(id, `refund 1 ${id}`)));
      }
      return {};
    }
    case 'memory':
      return { value: await memory() };
    case 'pay':
      for (const id of command.ids) void peer.run(id, `pay ${command.turns} ${id}`).catch((error: unknown) => console.error(error));
      return {};
    case 'recover':
      return { ms: [await timed(() => peer.recover(command.ids, command.hasOneHost))] };
    case 'close':
      await peer.close();
      return {};
  }
}

const opened = open();
process.on('message', (command: Command) => {
  void opened
    .then((peer) => obey(peer, command))
    .then(
      ({ ms = [], value = 0 }): Reply => ({ ok: true, ms, value }),
      (error: unknown): Reply => ({ ok: false, problem: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    )
    .then((reply) => process.send?.(reply));
});
process.on('disconnect', () => process.exit(0));
