import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { rounded } from './report/numbers';
import { named } from './setup';

const runs = 10;

const agents = `import { defineAgent } from 'holdfast/workflow';
export const worker = defineAgent({ name: 'worker', description: 'Works.', instructions: '', model: 'test/model', tools: ['work'] });`;

/** The tool notes its calls in a file that outlives the process. */
const config = `import { appendFileSync } from 'node:fs';
import { defineTool } from 'holdfast/worker';
import { z } from 'zod';
const note = (line) => appendFileSync('notes', line + '\\n');
export default {
  agents: './agents.ts',
  tools: {
    work: defineTool({
      description: 'Works.', inputSchema: z.object({ turn: z.number() }), effect: 'idempotent',
      execute: async ({ turn }, call) => {
        note('begins ' + turn);
        if (process.env.HANGS === 'yes' && turn === 6) await new Promise((resolve) => setTimeout(resolve, 3_600_000));
        note('done ' + call.idempotencyKey);
        return turn;
      },
    }),
  },
  models: { providers: { test: { model: () => ({ generate: async ({ messages }) => {
    const turn = messages.filter(({ role }) => role === 'tool').length + 1;
    const call = { type: 'tool-call', id: 'call-' + turn, name: 'work', input: { turn } };
    return { parts: turn > 8 ? [{ type: 'text', text: 'Done.' }] : [call], usage: { inputTokens: 1, outputTokens: 1 } };
  } }) } } },
};`;

/** Times `holdfast dev`: a run in a new folder, a second start, and recovery after a kill -9 in ten tool calls. */
export async function benchCold(): Promise<object> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-bench-cold-')));
  writeFileSync(join(directory, 'agents.ts'), agents);
  writeFileSync(join(directory, 'holdfast.config.ts'), config);
  const notes = (beginning: string): readonly string[] =>
    readFileSync(join(directory, 'notes'), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith(beginning));
  try {
    const emptyMs = await startAndRun(directory, 'first');
    const keptMs = await startAndRun(directory, 'second');
    const doomed = await started(directory, 'yes');
    const ids = named('killed', runs);
    for (const id of ids) await start(doomed.url, id);
    // The two earlier runs had a sixth turn each.
    while (notes('begins 6').length < runs + 2) await delay(20);
    const killedAt = performance.now();
    await ended(doomed.child, 'SIGKILL');
    const next = await started(directory);
    await Promise.all(ids.map((id) => completed(next.url, id)));
    const killToEndMs = rounded(performance.now() - killedAt, 0);
    await ended(next.child, 'SIGTERM');
    const done = notes('done ');
    return { emptyMs, keptMs, runs, killToEndMs, doubled: done.length - new Set(done).size };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Milliseconds from the start of the process until the service answers, and until a first run has ended. */
async function startAndRun(directory: string, id: string): Promise<{ readonly served: number; readonly firstEnd: number }> {
  const began = performance.now();
  const { child, url } = await started(directory);
  const served = rounded(performance.now() - began, 0);
  await start(url, id);
  await completed(url, id);
  const firstEnd = rounded(performance.now() - began, 0);
  await ended(child, 'SIGTERM');
  return { served, firstEnd };
}

async function started(directory: string, hangs = 'no'): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const child = spawn(process.execPath, [join(__dirname, '..', '..', 'cli', 'main.js'), 'dev', '--port', '0'], {
    cwd: directory,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], HOLDFAST_DIR: directory, HANGS: hangs },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  for await (const text of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    said += String(text);
    if (said.includes('Try:')) break;
  }
  const url = /http:\/\/[\d.]+:\d+/.exec(said)?.[0];
  if (url === undefined) throw new Error(`The process did not start: ${said}`);
  child.stdout.resume();
  return { child, url };
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const over = once(child, 'exit');
  child.kill(signal);
  await over;
}

async function start(url: string, id: string): Promise<void> {
  const body = JSON.stringify({ agent: 'worker', input: 'Work.', id });
  const answer = await fetch(`${url}/runs`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  if (!answer.ok) throw new Error(await answer.text());
}

async function completed(url: string, id: string): Promise<void> {
  for (;;) {
    const { status } = (await (await fetch(`${url}/runs/${id}`)).json()) as { readonly status?: string };
    if (status === 'completed') return;
    await delay(20);
  }
}
