import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createLogger } from '../host/logger';
import { startService } from '../service/http/start-service';
import { median, percentile, rounded, startBed, startServer } from './setup';

interface Reading {
  readonly firstMs: number;
  readonly delays: readonly number[];
  readonly tokens: number;
  readonly first: number;
  readonly last: number;
  readonly replaced: number;
}

const single = { rate: 100, tokens: 50, rounds: 40 };
const protocols = ['agui', 'aisdk', 'a2a', 'responses'];
const together = { rate: 100, tokens: 500, streams: 50 };

/**
 * From the byte of a provider to the event of a reader: provider, reader and Temporal are processes of their own, worker and service share
 * one, as with `npm start`. First one stream at a time, in each protocol, then fifty at once.
 */
export async function benchStream(): Promise<object> {
  const bench = await startServer();
  const provider = spawnProgram('stream-provider.js');
  const address = await firstLine(provider);
  const bed = await startBed(bench, 'stream', {
    environment: { OPENAI_COMPATIBLE_BASE_URL: address },
    // Clients of protocols name no model.
    models: { names: { 'bench/model': `openai-compatible/${single.rate}x${single.tokens}` } },
  });
  const service = await startService({
    client: bed.client,
    agents: [{ name: 'talks', description: 'Talks.', takesJob: false }],
    logger: createLogger({ level: 'silent' }),
    host: '127.0.0.1',
    port: 0,
  });
  try {
    await read(service.url, single, 1, 5);
    const alone = await read(service.url, single, 1, single.rounds);
    const crowd: { readonly readings: readonly Reading[]; readonly delays: readonly number[]; readonly perSecond: number }[] = [];
    for (let round = 0; round < 5; round++) crowd.push(await readTogether(service.url));
    const wanted = together.streams * together.tokens * crowd.length;
    const delays = crowd.flatMap((one) => one.delays);
    const byProtocol: Record<string, object> = {};
    for (const protocol of protocols) {
      await read(service.url, single, 1, 3, protocol);
      const told = (await read(service.url, single, 1, single.rounds, protocol)).map(({ firstMs }) => firstMs);
      byProtocol[protocol] = { p50: rounded(percentile(told, 0.5)), p95: rounded(percentile(told, 0.95)) };
    }
    const firsts = alone.map(({ firstMs }) => firstMs);
    return {
      firstTokenMs: { p50: rounded(percentile(firsts, 0.5)), p95: rounded(percentile(firsts, 0.95)) },
      firstTokenByProtocolMs: byProtocol,
      tokensPerSecond: Math.round(median(crowd.map(({ perSecond }) => perSecond))),
      together: {
        streams: together.streams,
        lost: wanted - delays.length,
        replaced: crowd.flatMap(({ readings }) => readings).reduce((sum, { replaced }) => sum + replaced, 0),
        delayMs: { p50: rounded(percentile(delays, 0.5)), p95: rounded(percentile(delays, 0.95)) },
      },
    };
  } finally {
    await service.close();
    await bed.close();
    provider.kill();
    await bench.close();
  }
}

async function readTogether(url: string): Promise<{ readings: readonly Reading[]; delays: readonly number[]; perSecond: number }> {
  const readings = await read(url, together, together.streams, 1);
  const delays = readings.flatMap((reading) => reading.delays);
  const seconds = (Math.max(...readings.map(({ last }) => last)) - Math.min(...readings.map(({ first }) => first))) / 1000;
  return { readings, delays, perSecond: delays.length / seconds };
}

async function read(
  url: string,
  { rate, tokens }: { readonly rate: number; readonly tokens: number },
  streams: number,
  rounds: number,
  protocol = 'events',
): Promise<readonly Reading[]> {
  const reader = spawnProgram('stream-reader.js', url, `${rate}x${tokens}`, String(streams), String(rounds), protocol);
  return JSON.parse(await firstLine(reader)) as readonly Reading[];
}

function spawnProgram(name: string, ...words: readonly string[]): ChildProcess {
  return spawn(process.execPath, [join(__dirname, name), ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    if (child.stdout === null) throw new Error('The program has no output.');
    createInterface(child.stdout).once('line', resolve);
    child.once('exit', (code) => reject(new Error(`The program ended with ${code} and said nothing.`)));
  });
}
