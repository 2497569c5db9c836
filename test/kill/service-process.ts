/**
 * Worker and service in one process, as in `holdfast dev`. Prints `listening`, `ready`, `held RUN` and `draining`. The run's input contains
 * the texts of model and tool per process.
 */
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { currentCall } from '../../activities/calls/call-context';
import type { ModelChunk, GenerateRequest, LanguageModel } from '../../activities/models/language-model';
import { defineTool } from '../../activities/tools/tools';
import { connect } from '../../client/connect';
import { defined } from '../../contract/defined';
import { textOf } from '../../contract/messages/messages';
import { runIdOf } from '../../contract/names';
import { createLogger } from '../../host/logger';
import { startService } from '../../service/http/start-service';
import { fixtureTools } from '../fixtures/tools';
import { drainOnSigterm, runMain, say, workerWith } from './program';
import type { ProgramSettings } from './program-settings';

export interface ServiceSettings extends ProgramSettings {
  readonly process: 'first' | 'second';
  readonly port?: number;
  readonly graceMs?: number;
}

/** Pieces of a text. Null waits for a line on stdin. */
export type Pieces = readonly (string | null)[];

export interface StreamScript {
  readonly first: Pieces;
  readonly second: Pieces;
  readonly tool?: Pick<StreamScript, 'first' | 'second'>;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as ServiceSettings;

const released = new Promise<void>((resolve) => createInterface(process.stdin).once('line', () => resolve()));

async function* spoken(script: Pick<StreamScript, 'first' | 'second'>): AsyncGenerator<string> {
  for (const piece of script[settings.process]) {
    if (piece !== null) {
      yield piece;
      continue;
    }
    say(`held ${runIdOf(currentCall()?.workflowId ?? '')}`);
    await released;
  }
}

async function* answer({ messages }: GenerateRequest): AsyncGenerator<ModelChunk> {
  const script = JSON.parse(textOf(messages[0] as GenerateRequest['messages'][number])) as StreamScript;
  if (script.tool !== undefined && !messages.some(({ role }) => role === 'tool'))
    yield { type: 'part', part: { type: 'tool-call', id: 'call', name: 'echo', input: { text: JSON.stringify(script.tool) } } };
  else for await (const text of spoken(script)) yield { type: 'text', text };
  yield { type: 'finish', usage: { inputTokens: 10, outputTokens: 5 } };
}

const model: LanguageModel = { generate: () => Promise.reject(new Error('These runs stream.')), stream: answer };

const tools = {
  ...fixtureTools,
  echo: defineTool({
    description: 'Says it piece by piece.',
    inputSchema: z.object({ text: z.string() }),
    stream: ({ text }) => spoken(JSON.parse(text) as StreamScript),
  }),
};

async function main(): Promise<void> {
  const { address, taskQueue, port, graceMs } = settings;
  const client = await connect({ server: { address, namespace: 'default' }, taskQueue });
  const service =
    port === undefined
      ? undefined
      : await startService({
          client,
          agents: [{ name: 'plain', description: 'Answers.', takesJob: false }],
          logger: createLogger({ level: 'silent' }),
          host: '127.0.0.1',
          port,
        });
  if (service !== undefined) say('listening');
  const worker = await workerWith(settings, {
    tools,
    models: { providers: { test: { model: () => model } } },
    ...defined({ shutdownGraceMs: graceMs }),
  });
  const stop = async (): Promise<void> => {
    await worker.shutdown();
    await service?.close();
    await client.close();
  };
  drainOnSigterm(() => {
    say('draining');
    return stop();
  });
  say('ready');
  await worker.run();
}

runMain(main);
