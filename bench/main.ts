import { benchEngine } from './engine';
import { benchHistory, benchHistoryCompacted } from './history';
import { benchHerd } from './herd';
import { benchInstance } from './instance';
import { benchMiddleware } from './middleware';
import { benchRebuild } from './rebuild';
import { benchRecovery } from './recovery';
import { benchResume } from './resume';
import { benchStream } from './stream';

const benches: Readonly<Record<string, () => Promise<object>>> = {
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
};

async function main(): Promise<void> {
  const wanted = process.argv.slice(2);
  const unknown = wanted.find((name) => benches[name] === undefined);
  if (unknown !== undefined) throw new Error(`There is no bench "${unknown}". There are: ${Object.keys(benches).join(', ')}.`);
  const lines: string[] = [];
  for (const name of wanted.length === 0 ? Object.keys(benches) : wanted) {
    const result = await benches[name]?.();
    lines.push(JSON.stringify({ bench: name, ...result }));
  }
  for (const line of lines) console.log(line);
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
