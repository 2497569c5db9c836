import { z } from 'zod';
import { defineTool } from '../../activities/tools/define-tool';
import type { Part } from '../../contract/messages/messages';
import { agentsMdTool } from '../../middleware/agents-md/worker';
import { fileTools } from '../../middleware/filesystem/worker';
import { largeResults } from '../../middleware/filesystem/worker/large-results';
import { memoryBackend } from '../../middleware/filesystem/worker/memory-backend';
import { taskTools } from '../../middleware/plan-task/worker';
import { offloadTools, reductionOnWorker } from '../../middleware/reduction/worker';
import { skillFilesTool } from '../../middleware/skill/worker';
import { skillFiles } from '../../middleware/skill/worker/skill-files';
import { toolSearchTool } from '../../middleware/tool-search/worker';
import { keptTexts } from '../support/compaction-bed';
import type { Gate } from '../support/gate';
import { tools as usual } from '../support/memory-bed';
import { StopError } from '../../kernel/effects/errors';

const gates = new Map<string, Gate>();

export const holder = {
  hold: (key: string, at: Gate): void => void gates.set(key, at),
  pass: async (key: string): Promise<void> => gates.get(key)?.pass(),
};

const text = z.object({ text: z.string() });
const said = (value: string): Part => ({ type: 'text', text: value });
const image: Part = { type: 'file', mediaType: 'image/png', data: 'aGk=' };

const ordinary = {
  echo: defineTool({
    description: 'Says it again.',
    inputSchema: text,
    execute: async ({ text: value }) => (await holder.pass(value), value),
  }),
  optioned: defineTool({
    description: 'Says with which options it was called.',
    inputSchema: text,
    execute: ({ text: value }, { options }) => `${value} ${JSON.stringify(options)}`,
  }),
  fail: usual.fail,
  add: usual.add,
  streams: defineTool({
    description: 'Says it in two pieces.',
    inputSchema: text,
    async *stream({ text: value }) {
      yield `${value} `;
      await holder.pass(value);
      yield 'end';
    },
  }),
  pieces: defineTool({
    description: 'Says it piece by piece, and may break.',
    inputSchema: z.object({ pieces: z.array(z.string()), error: z.string().optional() }),
    async *stream({ pieces, error }) {
      yield* pieces;
      if (error !== undefined) throw new Error(error);
    },
  }),
  enhanced: defineTool({
    description: 'Says it with an image.',
    inputSchema: text,
    enhanced: true,
    execute: ({ text: value }) => [said(value), image],
  }),
  enhancedStreams: defineTool({
    description: 'Says it with an image, piece by piece.',
    inputSchema: text,
    enhanced: true,
    async *stream({ text: value }) {
      yield said(value);
      yield image;
    },
  }),
  asksPlainly: defineTool({
    description: 'Asks a person, and keeps nothing.',
    inputSchema: text,
    execute: ({ text: value }, call): string => (call.resumed === undefined ? call.interrupt(value) : JSON.stringify(call.resumed)),
  }),
  asks: defineTool({
    description: 'Asks a person.',
    inputSchema: text,
    execute: ({ text: value }, call): string => {
      if (call.resumed === undefined) return call.interrupt({ question: value }, { state: { asked: value } });
      return `${value}: ${JSON.stringify(call.resumed.answer)} with ${JSON.stringify(call.resumed.state)}`;
    },
  }),
  pickColor: defineTool({ description: 'Lets the user pick a color.', inputSchema: z.object({ of: z.string() }), external: true }),
  stops: defineTool({
    description: 'Stops the run.',
    inputSchema: text,
    execute: async ({ text: value }): Promise<string> => {
      await holder.pass(value);
      throw new StopError('stop here');
    },
  }),
  flaky: defineTool({
    description: 'Fails the first time.',
    inputSchema: z.object({}),
    effect: 'idempotent',
    retry: { attempts: 2 },
    execute: (_, { attempt }) => {
      if (attempt === 1) throw new Error('flaky');
      return `fine at attempt ${attempt}`;
    },
  }),
  pays: defineTool({
    description: 'Pays, once.',
    inputSchema: text,
    effect: 'once',
    execute: async ({ text: value }) => (await holder.pass(value), 'paid'),
  }),
};

const skillFile = (name: string, head = ''): string => `---\nname: ${name}\ndescription: About ${name}.\n${head}---\n\nDo ${name}.\n`;

export const kept = keptTexts();
const offload = {
  ...kept,
  write: (path: string, value: string) => (value.includes('unwritable') ? Promise.reject(new Error('disk full')) : kept.write(path, value)),
};
export const largeFiles = memoryBackend();

export const halves = [reductionOnWorker({ backend: offload }), largeResults({ backend: largeFiles, tokens: 10 })];

const off = { disable: true } as const;

export const tools = {
  ...ordinary,
  ...taskTools({ backend: memoryBackend(), baseDir: '/tasks' }),
  ...fileTools({
    backend: memoryBackend(),
    streamingShell: {
      async *stream(command) {
        for (const word of command.split(' ')) {
          yield { output: word };
          await holder.pass(word);
        }
        yield { exitCode: 3 };
      },
    },
    tools: { ls: off, read_file: off, write_file: off, edit_file: off, glob: off, grep: off },
  }),
  tool_search: toolSearchTool(ordinary),
  reduction_offload: offloadTools(offload).reduction_offload,
  agents_md: agentsMdTool({ backend: memoryBackend({ '/AGENTS.md': 'Be kind.', '/b.md': 'Be brief.' }) }),
  skill_files: skillFilesTool({
    backend: skillFiles(
      memoryBackend({
        '/skills/pdf/SKILL.md': skillFile('pdf'),
        '/skills/deep/SKILL.md': skillFile('deep', 'model: strong\n'),
        '/skills/alone/SKILL.md': skillFile('alone', 'context: fork\n'),
      }),
      '/skills',
    ),
  }),
};
