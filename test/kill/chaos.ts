/**
 * `npm run chaos` runs the killing tests. `-- research` kills the worker of examples/research once per event; `-- research 10` at ten
 * events, spread evenly. `-- refund` and `-- conversation` play the other scenarios.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedServer } from '../../host/server/embedded-server';
import { quietRuntime } from '../../worker/runtime';
import { jestProgram } from '../support/jest-program';
import { runProgram } from '../support/own-server';
import { roomForDeployments } from '../support/room-for-deployments';
import { killAll } from './child';
import type { Kills, Point, Scenario } from './chaos-bed';
import { chaosOf } from './chaos-bed';
import { conversationScenario } from './conversation-chaos';
import type { PaymentServer } from './payment-server';
import { startPaymentServer } from './payment-server';
import { refundScenario } from './refund-chaos';
import { research } from './research-chaos';

async function play(scenario: Scenario, wanted: number): Promise<number> {
  quietRuntime();
  const server = await startEmbeddedServer({
    directory: mkdtempSync(join(tmpdir(), 'holdfast-chaos-')),
    dynamicConfig: { 'history.timerProcessorMaxTimeShift': '10ms', ...roomForDeployments },
  });
  try {
    const began = Date.now();
    const chaos = await chaosOf(scenario, { address: server.address, namespace: 'default' });
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

async function playPaid(scenario: (payments: PaymentServer) => Scenario, wanted: number): Promise<number> {
  const payments = await startPaymentServer();
  try {
    return await play(scenario(payments), wanted);
  } finally {
    await payments.close();
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
    [jestProgram, '--selectProjects', 'server', 'system', '--testPathPatterns', ...(patterns.length === 0 ? ['test/kill'] : patterns)],
    { stdio: 'inherit' },
  );
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}

const [what, count] = process.argv.slice(2);
const wanted = count === undefined ? Infinity : Number(count);
const scenarios: Readonly<Record<string, () => Promise<number>>> = {
  research: () => play(research, wanted),
  refund: () => playPaid(refundScenario, wanted),
  conversation: () => playPaid(conversationScenario, wanted),
};
runProgram(() => scenarios[what ?? '']?.() ?? tests(process.argv.slice(2)));
