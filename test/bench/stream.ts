import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createLogger } from '../../host/logger';
import { startService } from '../../service/http/start-service';
import { defined } from '../../contract/defined';
import type { DeltaSink, DeltaSource } from '../../contract/deltas';
import { RedisBus } from '../../host/redis/redis-bus';
import { startRedis } from '../support/redis';
import { median, rounded, spread } from './report/numbers';
import { startBed, startServer, type Place } from './setup';

export interface Reading {
  /** Milliseconds of each token. */
  readonly delays: readonly number[];
  readonly first: number;
  readonly last: number;
}

const alone = { model: '100x50', rounds: 40 };
const protocols = ['events', 'agui', 'aisdk', 'a2a', 'responses'];
const together = { model: '100x500', tokens: 500, streams: 50, rounds: 5 };

/** One stream at a time in each protocol, alone and with a worker's tokens in Redis, then fifty at once. */
export async function benchStream(): Promise<object> {
  const bench = await startServer();
  const provider = spawnProgram('stream-provider.js');
  const environment = { OPENAI_COMPATIBLE_BASE_URL: await firstLine(provider) };
  const redis = await startRedis();
  const buses = [new RedisBus(redis.url), new RedisBus(redis.url)] as const;
  const one = await serve(bench, 'stream', environment);
  const two = await serve(bench, 'bus', environment, buses);
  const read = async (model: string, streams: number, rounds: number, protocol = 'events', { url } = one): Promise<readonly Reading[]> =>
    JSON.parse(await firstLine(spawnProgram('stream-reader.js', url, model, `${streams}`, `${rounds}`, protocol))) as readonly Reading[];
  try {
    const firstTokenMs: Record<string, object> = {};
    for (const protocol of protocols) {
      await read(alone.model, 1, 5, protocol);
      const readings = await read(alone.model, 1, alone.rounds, protocol);
      firstTokenMs[protocol] = spread(firsts(readings));
    }
    await read(alone.model, 1, 5, 'events', two);
    const compared: readonly [number[], number[]] = [[], []];
    for (let round = 0; round < alone.rounds; round += alone.rounds / 10) {
      compared[0].push(...firsts(await read(alone.model, 1, alone.rounds / 10)));
      compared[1].push(...firsts(await read(alone.model, 1, alone.rounds / 10, 'events', two)));
    }
    const crowds: (readonly Reading[])[] = [];
    for (let round = 0; round < together.rounds; round++) crowds.push(await read(together.model, together.streams, 1));
    const delays = crowds.flat().flatMap((reading) => reading.delays);
    const perSecond = crowds.map((crowd) => {
      const seconds = (Math.max(...crowd.map(({ last }) => last)) - Math.min(...crowd.map(({ first }) => first))) / 1000;
      return crowd.flatMap((reading) => reading.delays).length / seconds;
    });
    const lost = together.streams * together.tokens * together.rounds - delays.length;
    return {
      firstTokenMs,
      bus: {
        oneProcessMs: spread(compared[0]),
        redisMs: spread(compared[1]),
        moreMs: rounded(median(compared[1]) - median(compared[0]), 1),
      },
      together: { streams: together.streams, tokensPerSecond: Math.round(median(perSecond)), lost, delayMs: spread(delays) },
    };
  } finally {
    await one.close();
    await two.close();
    for (const bus of buses) await bus.close();
    await redis.kill();
    provider.kill();
    await bench.close();
  }
}

function firsts(readings: readonly Reading[]): readonly number[] {
  return readings.map(({ delays: [first = Infinity] }) => first);
}

async function serve(
  bench: Place,
  name: string,
  environment: Record<string, string>,
  [sink, source]: readonly [DeltaSink?, DeltaSource?] = [],
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const models = { names: { 'bench/model': `openai-compatible/${alone.model}` } };
  const bed = await startBed(bench, name, { environment, models, ...defined({ deltas: sink }) }, source);
  const { url, close } = await startService({
    client: bed.client,
    agents: [{ name: 'talks', description: 'Talks.', takesJob: false }],
    logger: createLogger({ level: 'silent' }),
    host: '127.0.0.1',
    port: 0,
  });
  return {
    url,
    async close() {
      await close();
      await bed.close();
    },
  };
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
