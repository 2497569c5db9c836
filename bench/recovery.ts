import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rounded } from './setup';

const runs = 10;
const turns = 8;
/** The process is killed when all runs are in this call of the tool. */
const killedIn = 6;

const agents = `import { defineAgent } from 'holdfast/workflow';
export const worker = defineAgent({ name: 'worker', description: 'Works.', instructions: '', model: 'test/model', tools: ['work'] });`;

/** The tool notes what it begins and what it has done, by its key, in a file that outlives the process. */
const config = `import { appendFileSync } from 'node:fs';
import { defineTool } from 'holdfast/worker';
import { z } from 'zod';
const note = (line) => appendFileSync('notes', line + '\\n');
const turnOf = (messages) => messages.filter(({ role }) => role === 'tool').length;
export default {
  agents: './agents.ts',
  tools: {
    work: defineTool({
      description: 'Works.', inputSchema: z.object({ turn: z.number() }), effect: 'idempotent',
      execute: async ({ turn }, call) => {
        note('begins ' + turn + ' ' + call.idempotencyKey);
        await new Promise((resolve) => setTimeout(resolve, process.env.SLOW === 'yes' && turn === ${killedIn} ? 3_600_000 : 20));
        note('done ' + turn + ' ' + call.idempotencyKey);
        return turn;
      },
    }),
  },
  models: { providers: { test: { model: () => ({ generate: async ({ messages }) => {
    const turn = turnOf(messages) + 1;
    const call = { type: 'tool-call', id: 'call-' + turn, name: 'work', input: { turn } };
    return { parts: turn > ${turns} ? [{ type: 'text', text: 'Done.' }] : [call], usage: { inputTokens: 1, outputTokens: 1 } };
  } }) } } },
};`;

/** `holdfast dev` on one host: how long it takes to start, and from a kill -9 of it to the end of the runs in the next one. */
export async function benchRecovery(): Promise<object> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-bench-recovery-')));
  writeFileSync(join(directory, 'agents.ts'), agents);
  writeFileSync(join(directory, 'holdfast.config.ts'), config);
  try {
    const first = await started(directory, 'yes');
    const ids = Array.from({ length: runs }, (_, position) => `run-${position}`);
    for (const id of ids) await post(`${first.url}/runs`, { agent: 'worker', input: 'Work.', id });
    while (notesOf(directory, `begins ${killedIn} `).length < runs) await moment();
    const killedAt = performance.now();
    await ended(first.child, 'SIGKILL');
    const second = await started(directory, 'no');
    let left = ids;
    while (left.length > 0) {
      const stands = await Promise.all(left.map(async (id) => [id, (await viewOf(`${second.url}/runs/${id}`)).status] as const));
      left = stands.filter(([, status]) => status !== 'completed').map(([id]) => id);
      if (left.length > 0) await moment();
    }
    const killToEndMs = performance.now() - killedAt;
    await ended(second.child, 'SIGTERM');
    const third = await started(directory, 'no');
    await ended(third.child, 'SIGTERM');
    const done = notesOf(directory, 'done ');
    return {
      coldStartMs: { first: rounded(first.ms, 0), knownBundle: rounded(third.ms, 0), behindAKill: rounded(second.ms, 0) },
      runs,
      killToEndMs: rounded(killToEndMs, 0),
      effects: new Set(done).size,
      doubled: done.length - new Set(done).size,
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Started {
  readonly child: ChildProcess;
  readonly url: string;
  readonly ms: number;
}

async function started(directory: string, slow: string): Promise<Started> {
  const began = performance.now();
  const child = spawn(process.execPath, [join(__dirname, '..', 'cli', 'main.js'), 'dev', '--port', '0'], {
    cwd: directory,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], HOLDFAST_DIR: directory, SLOW: slow },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8');
  for await (const text of child.stdout.iterator({ destroyOnReturn: false })) {
    said += String(text);
    if (said.includes('Try:')) break;
  }
  const ms = performance.now() - began;
  const url = /http:\/\/[\d.]+:\d+/.exec(said)?.[0];
  if (url === undefined) throw new Error(`The process did not start: ${said}`);
  child.stdout.resume();
  return { child, url, ms };
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const over = once(child, 'exit');
  child.kill(signal);
  await over;
}

function notesOf(directory: string, beginning: string): readonly string[] {
  try {
    return readFileSync(join(directory, 'notes'), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith(beginning));
  } catch {
    return [];
  }
}

async function post(url: string, body: object): Promise<void> {
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
}

async function viewOf(url: string): Promise<{ readonly status?: string }> {
  return (await (await fetch(url)).json()) as { readonly status?: string };
}

const moment = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
