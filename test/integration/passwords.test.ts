import { mkdtempSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { defineTool } from '../../activities/tools/tools';
import type { HoldfastError } from '../../contract/errors';
import { createLogger } from '../../host/logger';
import { createApp } from '../../service/http/app';
import { fixtureTools } from '../fixtures/tools';
import { allOf } from '../support/all-of';
import { sharedBed } from '../support/shared-bed';
import { calls, startTestBed, text } from '../support/test-bed';

const password = 'correct-horse-7';
const base = `http://ada:${password}@127.0.0.1:9/v1`;

function textsUnder(directory: string): readonly string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    return statSync(path).isDirectory() ? textsUnder(path) : [readFileSync(path, 'latin1')];
  });
}

function textsIn(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (typeof value === 'object' && value !== null) return Object.values(value).map(textsIn).join(' ');
  return String(value);
}

const bundles = mkdtempSync(join(tmpdir(), 'holdfast-passwords-'));
const told: HoldfastError[] = [];
const seen: unknown[] = [];
beforeEach(() => {
  told.length = 0;
  seen.length = 0;
});

const bed = sharedBed({
  bundles,
  modelFacts: { attempts: 1 },
  tools: {
    ...fixtureTools,
    echo: defineTool({
      description: 'Fails.',
      inputSchema: z.object({ text: z.string() }),
      retry: { attempts: 2 },
      execute: () => {
        throw new Error(`connect ECONNREFUSED ${base}`);
      },
    }),
  },
  observers: [{ name: 'looks', onError: ({ error }) => void seen.push(error) }],
  onProblem: (problem) => told.push(problem),
});

async function keptOf(id: string): Promise<string> {
  return textsIn((await bed.temporal.handle(id).fetchHistory()).events);
}

describe('a password in a URL', () => {
  it('of a provider is refused when the worker starts, by the name of the variable and without the password', async () => {
    for (const name of ['OPENAI_COMPATIBLE_BASE_URL', 'OPENAI_BASE_URL', 'ANTHROPIC_BASE_URL', 'GOOGLE_GENERATIVE_AI_BASE_URL']) {
      const begun: unknown = await startTestBed(() => undefined as never, { environment: { [name]: base } }).catch(
        (error: unknown) => error,
      );
      expect(begun).toMatchObject({ code: 'config-invalid', message: expect.stringContaining(name) as string });
      expect((begun as Error).message).not.toContain(password);
    }
  });

  it('that a provider of your own puts into an error reaches neither views, events, lists, the log nor what the server keeps', async () => {
    const lines: string[] = [];
    const logger = createLogger({ write: (line: string) => void lines.push(line) });
    const model = bed.scripted(() => {
      throw new TypeError(`fetch failed: ${base}/chat/completions`, { cause: new Error(`connect ECONNREFUSED ${base}`) });
    });
    const run = await model.start('plain', 'hello');
    const outcome = await run.outcome();
    const view = await run.view();
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('http://[credentials]@127.0.0.1') as string },
    });
    const events = await allOf(run.events());
    const app = createApp({ agents: [], client: bed.client, logger });
    const answers = await Promise.all(
      [`/runs/${run.id}`, `/runs/${run.id}/result`, '/runs'].map(async (path) => (await app.request(path)).text()),
    );
    logger.error('The model could not be asked.', { url: base });
    const kept = await keptOf(run.id);
    expect(kept).toContain('[credentials]');
    for (const shown of [outcome, view, events, answers, lines, seen, told.map(({ message }) => message), kept, textsUnder(bundles)])
      expect(JSON.stringify(shown)).not.toContain(password);
  });

  it('that a tool puts into its error reaches neither the model, views, events, observers nor what the server keeps', async () => {
    const asked: unknown[] = [];
    const model = bed.scripted(({ messages }) => {
      asked.push(messages);
      return messages.some(({ role }) => role === 'tool') ? text('Done.') : calls({ name: 'echo', input: { text: 'x' } });
    });
    const run = await model.start('plain', 'hello');
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    const kept = await keptOf(run.id);
    expect(kept).toContain('http://[credentials]@127.0.0.1');
    expect(JSON.stringify(asked)).toContain('[credentials]');
    for (const shown of [await run.view(), await allOf(run.events()), asked, seen, told.map(({ message }) => message), kept])
      expect(JSON.stringify(shown)).not.toContain(password);
  });
});
