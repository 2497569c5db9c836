import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { McpServerOptions } from '../../../activities/mcp/options';
import { freePort } from '../../../host/server/free-port';
import { ToolServerBed, textOf } from '../../support/mcp/tool-server-bed';

const file = join(__dirname, '../../acceptance/mcp-fixture.mjs');

interface Scene {
  readonly options: McpServerOptions;
  close(): Promise<void>;
}

/** Its streams have events with ids, so that the client resumes a stream which the server has closed. */
async function overHttp(): Promise<Scene> {
  const port = await freePort();
  const server = spawn(process.execPath, [file, 'http', String(port)], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(server.stdout, 'data');
  return {
    options: { url: `http://127.0.0.1:${port}/mcp` },
    async close() {
      const ended = once(server, 'exit');
      server.kill();
      await ended;
    },
  };
}

const asProcess = (): Promise<Scene> =>
  Promise.resolve({ options: { command: process.execPath, args: [file] }, close: () => Promise.resolve() });

it.each([
  ['HTTP', overHttp],
  ['stdin and stdout', asProcess],
] as const)('uses the server of the acceptance scripts over %s', async (_, open) => {
  const { options, close } = await open();
  const bed = new ToolServerBed({ lab: { ...options, perRun: true } });
  try {
    const { tools, refused } = await bed.mcp.offerOf('lab', 'default');
    expect(tools.map(({ tool }) => tool)).toEqual(['add', 'slow', 'ask', 'think', 'boom', 'poll', 'grow']);
    expect(refused).toEqual([{ tool: 'job', problem: 'it works only as a task' }]);
    const manifest = await bed.prepared(...tools.map(({ name }) => name));
    const said = async (tool: string, input = {}): Promise<unknown> => textOf(await bed.call(manifest, `lab_${tool}`, input));
    expect(await said('add', { a: 1, b: 2 })).toBe('3');
    expect(await said('slow', { ms: 300 })).toBe('slow done');
    expect(bed.deltas).toContainEqual(expect.objectContaining({ data: { progress: 1, total: 3, message: 'tick' } }));
    expect(await said('poll')).toBe('polled');
    expect(await said('boom')).toBe("The tool 'lab_boom' failed: no luck");
    expect(await said('think')).toContain('Method not found');
    expect(await said('ask')).toBe('interrupted');
    expect(await said('grow')).toBe('ok');
  } finally {
    await bed.close();
    await close();
  }
});
