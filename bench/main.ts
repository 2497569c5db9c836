import { benchBatch } from './batch';
import { benchBytes } from './bytes';
import { benchCalls } from './calls';
import { benchChat } from './chat';
import { benchEngine } from './engine';
import { benchFlags } from './flags';
import { benchHistory, benchHistoryCompacted } from './history';
import { benchHerd } from './herd';
import { benchInstance } from './instance';
import { benchMiddleware } from './middleware';
import { benchOffice } from './office';
import { benchParked } from './parked';
import { benchPeers } from './peers/peers';
import { benchRebuild } from './rebuild';
import { benchRecovery } from './recovery';
import { benchResume } from './resume';
import { benchScale } from './scale';
import { benchSoak } from './soak';
import { benchStream } from './stream';
import { benchWaiting } from './waiting';
import { benchWatch, benchWatchMemory } from './watch';

type Bench = (args: readonly string[]) => Promise<object>;

const benches: Readonly<Record<string, Bench>> = {
  bytes: benchBytes,
  engine: benchEngine,
  herd: benchHerd,
  history: benchHistory,
  'history-compacted': benchHistoryCompacted,
  instance: benchInstance,
  middleware: benchMiddleware,
  rebuild: benchRebuild,
  recovery: benchRecovery,
  resume: benchResume,
  stream: benchStream,
  watch: benchWatch,
};

/** They take longer, and run only when they are named. What stands behind a name goes to its bench. */
const longBenches: Readonly<Record<string, Bench>> = {
  batch: benchBatch,
  calls: benchCalls,
  chat: benchChat,
  flags: benchFlags,
  office: benchOffice,
  parked: benchParked,
  peers: benchPeers,
  scale: benchScale,
  soak: benchSoak,
  waiting: benchWaiting,
  'watch-memory': benchWatchMemory,
};

async function main(): Promise<void> {
  const known = { ...benches, ...longBenches };
  const wanted: { readonly name: string; readonly args: string[] }[] = [];
  for (const word of process.argv.slice(2)) {
    const last = wanted.at(-1);
    if (known[word] !== undefined) wanted.push({ name: word, args: [] });
    else if (last !== undefined && longBenches[last.name] !== undefined) last.args.push(word);
    else throw new Error(`There is no bench "${word}". There are: ${Object.keys(known).join(', ')}.`);
  }
  const lines: string[] = [];
  for (const { name, args } of wanted.length === 0 ? Object.keys(benches).map((name) => ({ name, args: [] })) : wanted) {
    const result = await known[name]?.(args);
    lines.push(JSON.stringify({ bench: name, ...result }));
  }
  for (const line of lines) console.log(line);
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
