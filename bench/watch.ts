import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { percentile, rounded } from './setup';

const agents = (words: string): string => `import { defineAgent } from 'holdfast/workflow';
import { approval } from 'holdfast/middleware';
export const desk = defineAgent({ name: 'desk', description: '', instructions: '${words}', model: 'default', tools: ['lookupOrder', 'payOrder'],
  middleware: [approval({ tools: { payOrder: true } })] });
`;
const tools = `import { defineTool } from 'holdfast/worker';
import { z } from 'zod';
import { word } from './words';
const inputSchema = z.object({ orderId: z.string() });
export const tools = {
  lookupOrder: defineTool({ description: 'Looks up.', inputSchema, execute: () => ({ word }) }),
  payOrder: defineTool({ description: 'Pays.', inputSchema, effect: 'idempotent', execute: () => ({ paid: word }) }),
};
`;
const config = `import { tools } from './tools';\nexport default { agents: './agents.ts', tools };\n`;

interface Line {
  readonly level: string;
  readonly message: string;
  readonly build?: string;
}

/** `holdfast dev` on a project in a temporary folder. */
class Dev {
  private constructor(
    private readonly folder: string,
    private readonly child: ChildProcess,
    private readonly lines: AsyncIterator<string>,
    readonly url: string,
  ) {}

  static async start(): Promise<Dev> {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-bench-')));
    const files = { 'package.json': '{}', 'words.ts': word(0), 'tools.ts': tools, 'agents.ts': agents('0'), 'holdfast.config.ts': config };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const command = join(__dirname, '..', 'cli', 'main.js');
    const child = spawn(process.execPath, [command, 'dev', '--port', '0', '--log', 'json'], {
      cwd: folder,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const lines = createInterface({ input: child.stderr })[Symbol.asyncIterator]();
    for await (const line of createInterface({ input: child.stdout })) {
      const url = /service\s+(http\S+)/.exec(line)?.[1];
      if (url !== undefined) return new Dev(folder, child, lines, url);
    }
    throw new Error('holdfast dev has not started.');
  }

  /** Milliseconds from a save until it is served, and by which build. */
  async save(name: string, text: string): Promise<{ readonly ms: number; readonly build: string | undefined }> {
    const began = performance.now();
    writeFileSync(join(this.folder, name), text);
    for (;;) {
      const { value } = (await this.lines.next()) as { value?: string };
      if (value === undefined) throw new Error('holdfast dev has ended.');
      const { level, message, build } = JSON.parse(value) as Line;
      if (level === 'error') throw new Error(message);
      if (message.includes('taken over')) return { ms: performance.now() - began, build };
    }
  }

  async request(path: string, body?: object): Promise<Record<string, unknown>> {
    const init = body === undefined ? {} : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    return (await (await fetch(`${this.url}${path}`, init)).json()) as Record<string, unknown>;
  }

  /** A run that does not come there within half a minute is lost, or stuck. */
  async until(id: string, status: string): Promise<Record<string, unknown>> {
    for (const end = performance.now() + 30_000; ;) {
      const view = await this.request(`/runs/${id}`);
      if (view['status'] === status) return view;
      if (performance.now() > end || view['status'] === 'failed')
        throw new Error(`The run ${id} is not ${status}: ${JSON.stringify(view)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Of the process, in MB. */
  get memory(): number {
    const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.child.pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) / 1024;
  }

  /** Processor time of the process, in milliseconds. */
  get processorMs(): number {
    const fields = readFileSync(`/proc/${this.child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  }

  async stop(): Promise<void> {
    this.child.kill('SIGTERM');
    await once(this.child, 'exit');
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const word = (n: number): string => `export const word = 'word ${n}';\n`;

/** Twenty edits: of the agents and of a file that the tools import, in turn. A run begins after each. One run waits from the beginning to the end. */
export function benchWatch(): Promise<object> {
  return edits(20);
}

/** Two hundred, or as many as are named, for what stays in memory. */
export function benchWatchMemory([count]: readonly string[] = []): Promise<object> {
  return edits(Number(count ?? 200));
}

async function edits(count: number): Promise<object> {
  const dev = await Dev.start();
  try {
    await dev.request('/runs', { agent: 'desk', input: 'pay order 1', id: 'waits' });
    await dev.until('waits', 'waiting');
    const first = (await dev.request('/runs/waits'))['build'];
    const took = { agents: [] as number[], tools: [] as number[] };
    const memory: number[] = [Math.round(dev.memory)];
    let current = 0;
    let runs = 0;
    const cpu: number[] = [];
    for (let n = 1; n <= count; n++) {
      const isTool = n % 2 === 0;
      const before = dev.processorMs;
      const { ms, build } = isTool ? await dev.save('words.ts', word((current = n))) : await dev.save('agents.ts', agents(`Edit ${n}.`));
      cpu.push(dev.processorMs - before);
      took[isTool ? 'tools' : 'agents'].push(ms);
      await dev.request('/runs', { agent: 'desk', input: 'lookup 1', id: `run-${n}` });
      const view = await dev.until(`run-${n}`, 'completed');
      if (view['build'] !== build) throw new Error(`The run ${n} began under ${String(view['build'])}, and not under ${build}.`);
      const { messages } = await dev.request(`/runs/run-${n}/transcript`);
      if (!JSON.stringify(messages).includes(`word ${current}"`)) throw new Error(`The run ${n} had an older tool.`);
      runs++;
      if (n % Math.ceil(count / 10) === 0) memory.push(Math.round(dev.memory));
    }
    const waits = (await dev.until('waits', 'waiting')) as {
      build?: string;
      interrupts?: readonly { readonly id: string; readonly inputHash: string }[];
    };
    if (waits.build !== first) throw new Error(`The run that waits is under ${waits.build}, and no longer under ${String(first)}.`);
    const [interrupt] = waits.interrupts ?? [];
    await dev.request(`/runs/waits/interrupts/${interrupt?.id}`, { decision: 'approve', inputHash: interrupt?.inputHash });
    await dev.until('waits', 'completed');
    runs++;
    const all = [...took.agents, ...took.tools];
    const ofThese = (values: readonly number[]): object => ({
      p50: rounded(percentile(values, 0.5), 0),
      max: rounded(Math.max(...values), 0),
    });
    return {
      edits: count,
      savedToServedMs: ofThese(all),
      firstMs: rounded(took.agents[0] ?? 0, 0),
      agentsMs: ofThese(took.agents),
      toolsMs: ofThese(took.tools),
      processorMs: ofThese(cpu),
      // One that was lost, or stuck, or under another build, has ended the bench.
      runs,
      memoryMB: memory,
    };
  } finally {
    await dev.stop();
  }
}
