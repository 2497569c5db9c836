import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createLogger } from '../../host/logger';
import { startService } from '../../service/http/start-service';
import { median, spread } from './report/numbers';
import { startBed, startServer } from './setup';

export interface Reading {
  /** Milliseconds of each token. */
  readonly delays: readonly number[];
  readonly first: number;
  readonly last: number;
}

const alone = { model: '100x50', rounds: 40 };
const protocols = ['events', 'agui', 'aisdk', 'a2a', 'responses'];
const together = { model: '100x500', tokens: 500, streams: 50, rounds: 5 };

/** One stream at a time in each protocol, then fifty at once. */
export async function benchStream(): Promise<object> {
  const bench = await startServer();
  const provider = spawnProgram('stream-provider.js');
  const environment = { OPENAI_COMPATIBLE_BASE_URL: await firstLine(provider) };
  const bed = await startBed(bench, 'stream', {
    environment,
    models: { names: { 'bench/model': `openai-compatible/${alone.model}` } },
  });
  const { url, close } = await startService({
    client: bed.client,
    agents: [{ name: 'talks', description: 'Talks.', takesJob: false }],
    logger: createLogger({ level: 'silent' }),
    host: '127.0.0.1',
    port: 0,
  });
  const read = async (model: string, streams: number, rounds: number, protocol = 'events'): Promise<readonly Reading[]> =>
    JSON.parse(await firstLine(spawnProgram('stream-reader.js', url, model, `${streams}`, `${rounds}`, protocol))) as readonly Reading[];
  try {
    const firstTokenMs: Record<string, object> = {};
    for (const protocol of protocols) {
      await read(alone.model, 1, 5, protocol);
      const readings = await read(alone.model, 1, alone.rounds, protocol);
      firstTokenMs[protocol] = spread(readings.map(({ delays: [first = Infinity] }) => first));
    }
    const crowds: (readonly Reading[])[] = [];
    for (let round = 0; round < together.rounds; round++) crowds.push(await read(together.model, together.streams, 1));
    const delays = crowds.flat().flatMap((one) => one.delays);
    const perSecond = crowds.map((crowd) => {
      const seconds = (Math.max(...crowd.map(({ last }) => last)) - Math.min(...crowd.map(({ first }) => first))) / 1000;
      return crowd.flatMap((one) => one.delays).length / seconds;
    });
    const lost = together.streams * together.tokens * together.rounds - delays.length;
    return {
      firstTokenMs,
      together: { streams: together.streams, tokensPerSecond: Math.round(median(perSecond)), lost, delayMs: spread(delays) },
    };
  } finally {
    await close();
    await bed.close();
    provider.kill();
    await bench.close();
  }
}

function spawnProgram(name: string, ...words: readonly string[]): ChildProcess {
  return spawn(process.execPath, [join(__dirname, name), ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('The program has no output.');
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`The program ended with ${code} and said nothing.`);
  });
  ended.catch(() => undefined);
  const [line] = (await Promise.race([once(createInterface(child.stdout), 'line'), ended])) as [string];
  return line;
}
