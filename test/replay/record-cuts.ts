import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { recordHistory } from '../../testing/index';
import type { ParityBeds } from '../parity/bed';
import { openParityBeds } from '../parity/bed';
import { whatDiffers } from '../parity/contest';
import { scriptOf } from '../parity/generate';
import { follow, lead } from '../parity/play';
import { tableInMemory, tableOnServer } from '../parity/tables';
import { onOwnServer, promptServer, runProgram } from '../support/own-server';
import type { Temporal } from '../support/temporal';
import { testServer } from '../support/test-bed';

// Records the histories of forty random scripts: `npm run build && node dist/test/replay/record-cuts.js [version]`, from the repository's
// root.
const root = process.cwd();
const version = process.argv[2] ?? (JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')) as { version: string }).version;
const target = resolve(root, 'test/replay/histories/scripts');
const packed = new Map<string, Buffer>();

const scripts = [
  1, 4, 11, 14, 16, 26, 32, 45, 59, 69, 79, 80, 92, 125, 127, 129, 139, 142, 156, 163, 168, 174, 176, 178, 202, 203, 208, 213, 235, 248,
  265, 273, 275, 284, 292, 326, 346, 361, 375, 382,
].map((number) => scriptOf(`cuts/${number}`));

const idOf = (name: string): string => name.replace('/', '-');

const main = (): Promise<number> =>
  onOwnServer('record', promptServer, async ({ directory, temporal }) => {
    const beds = await openParityBeds();
    try {
      // All at once, so that a busy worker gets several events in one task.
      await Promise.all(scripts.map((script) => record(script, beds, temporal, directory)));
      mkdirSync(target, { recursive: true });
      for (const file of readdirSync(target)) if (file.startsWith(`${version}-`)) rmSync(join(target, file));
      for (const [file, bytes] of packed) writeFileSync(join(target, file), bytes);
    } finally {
      await beds.close();
    }
    return Number(process.exitCode ?? 0);
  });

async function record(script: (typeof scripts)[number], beds: ParityBeds, temporal: Temporal, scratch: string): Promise<void> {
  const id = idOf(script.name);
  const memory = await lead(script, id, tableInMemory);
  const played = await follow(memory, id, async (one, runId, places) =>
    tableOnServer(await beds.bedFor(one), temporal, one, runId, places),
  );
  const difference = whatDiffers({ memory, server: played });
  if (difference !== '') {
    process.exitCode = 1;
    console.error(`${script.name} (${script.agent}) differs: ${difference}`);
  }
  for (const [part, place] of ['', ...memory.parts.map((one) => one.place)].entries()) {
    const file = join(scratch, `${id}.${part}.json`);
    await recordHistory({ server: testServer(), id: `${id}${place}`, file });
    packed.set(
      `${version}-${id}${part === 0 ? '' : `.${part}`}.json.gz`,
      gzipSync(readFileSync(file, 'utf8').replaceAll(`${root}/`, ''), { level: 9 }),
    );
  }
  console.log(`scripts/${version}-${id}: ${script.agent}`);
}

runProgram(main);
