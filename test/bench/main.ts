import { benchBytes } from './bytes';
import { benchCold } from './cold';
import { benchEngine } from './engine';
import { benchHerd } from './herd';
import { benchParked } from './parked';
import { benchPeers } from './peers/peers';
import { benchResume } from './resume';
import { benchStream } from './stream';
import { benchWaiting } from './waiting';

const benches: Readonly<Record<string, (args: readonly string[]) => Promise<object>>> = {
  engine: benchEngine,
  bytes: benchBytes,
  resume: benchResume,
  parked: benchParked,
  waiting: benchWaiting,
  cold: benchCold,
  stream: benchStream,
  herd: benchHerd,
  peers: benchPeers,
};

const known = `There are: ${Object.keys(benches).join(', ')}.`;
const takesArguments = (name: string): boolean => (benches[name]?.length ?? 0) > 0;

async function main(words: readonly string[]): Promise<void> {
  const wanted: { readonly name: string; readonly args: string[] }[] = [];
  for (const word of words) {
    const last = wanted.at(-1);
    if (Object.hasOwn(benches, word)) wanted.push({ name: word, args: [] });
    else if (last !== undefined && takesArguments(last.name)) last.args.push(word);
    else throw new Error(`There is no bench "${word}". ${known}`);
  }
  if (wanted.length === 0) throw new Error(`Name a bench, such as \`npm run bench -- engine\`. ${known}`);
  const lines: string[] = [];
  for (const { name, args } of wanted) lines.push(JSON.stringify({ bench: name, ...(await benches[name]?.(args)) }));
  for (const line of lines) console.log(line);
}

main(process.argv.slice(2)).then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
