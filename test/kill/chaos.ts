/**
 * `npm run chaos` runs the tests that kill. `npm run chaos -- research` plays examples/research once for each event of a run and kills the worker
 * there; `-- research 10` does so for ten events, spread evenly.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedServer } from '../../host/server/embedded-server';
import { quietRuntime } from '../../worker/runtime';
import { roomForDeployments } from '../support/room-for-deployments';
import { killAll } from './child';
import type { Kills, Point } from './research-chaos';
import { researchChaos } from './research-chaos';

async function research(wanted: number): Promise<number> {
  quietRuntime();
  const server = await startEmbeddedServer({
    directory: mkdtempSync(join(tmpdir(), 'holdfast-chaos-')),
    // Each run has a task queue of its own.
    dynamicConfig: { 'history.timerProcessorMaxTimeShift': '10ms', ...roomForDeployments },
  });
  try {
    const began = Date.now();
    const chaos = await researchChaos({ address: server.address, namespace: 'default' });
    const all = chaos.points;
    const count = Math.min(wanted, all.length);
    const points = all.filter((_, index) => Math.floor((index * count) / all.length) !== Math.floor(((index - 1) * count) / all.length));
    console.log(`${all.length} events, ${points.length} kills`);
    const kills = await chaos.kill(
      points.map((point) => [point]),
      (each) => console.log(lineOf(each)),
    );
    const different = kills.filter(({ differences }) => differences.length > 0);
    for (const { points: at, differences } of different)
      for (const difference of differences) console.log(`${at.map(nameOf).join(', ')}: ${difference}`);
    const seconds = Math.round((Date.now() - began) / 1000);
    console.log(`${kills.length} kills, ${different.length} runs that differ, ${seconds} s`);
    return different.length === 0 ? 0 : 1;
  } finally {
    killAll();
    await server.stop();
  }
}

function lineOf({ points, at, seconds, differences }: Kills): string {
  const verdict = differences.length === 0 ? 'same' : `${differences.length} differences`;
  return `${points.map(nameOf).join(', ').padEnd(20)}  ${at.join(', ').padEnd(44)} ${seconds.toFixed(1).padStart(6)} s  ${verdict}`;
}

function nameOf({ part, offset }: Point): string {
  return `${part === '' ? 'the run' : part} ${offset}`;
}

function tests(patterns: readonly string[]): Promise<number> {
  const child = spawn(
    process.execPath,
    [require.resolve('jest/bin/jest'), '--selectProjects', 'kill', ...patterns.flatMap((each) => ['--testPathPatterns', each])],
    { stdio: 'inherit' },
  );
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}

const [what, count] = process.argv.slice(2);
const done = what === 'research' ? research(count === undefined ? Infinity : Number(count)) : tests(process.argv.slice(2));
done.then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
