import type { Part } from '@a2a-js/sdk';
import { Task, TaskArtifactUpdateEvent } from '@a2a-js/sdk';
import type { Delta } from '../../contract/deltas';
import type { RunEvent } from '../../contract/events';
import type { Json, StoredMessage } from '../../contract/messages/messages';
import { textOf, toolCallsOf } from '../../contract/messages/messages';
import { isConversation, isShown } from '../../contract/record/agent-paths';
import { TaskFold } from '../../service/a2a/task-fold';
import type { AguiEvent } from '../../service/agui/events';
import { AguiFrames } from '../../service/agui/frames';
import { UiFrames } from '../../service/ai-sdk/frames';
import type { UiPart } from '../../service/ai-sdk/parts';
import { Projection } from '../../service/projection/projection';
import type { ShownStep } from '../../service/projection/steps';
import { scriptOf } from '../parity/generate';
import { lead } from '../parity/play';
import { Random } from '../parity/random';
import { tableInMemory } from '../parity/tables';
import { textIn } from '../support/a2a-bed';
import { pageOf, toolsOf } from '../support/ai-sdk-page';

/** What readers are shown of a run, whatever they speak. */
interface Shown {
  readonly texts: readonly string[];
  /** Each with its arguments and what came of it, or nothing. */
  readonly calls: readonly string[];
}

interface Call {
  readonly tool: string;
  input: Json;
  output?: Json;
}

const rejected = /^A human rejected the call/;

const callLine = (tool: string, input: Json, output: Json | undefined): string =>
  `${tool} ${JSON.stringify(input)} ${output === undefined ? '' : typeof output !== 'string' ? JSON.stringify(output) : rejected.test(output) ? 'denied' : output}`;

/** What the log says. Calls are by agent and id: of two agents each may have one of the same, and of two messages. */
function inLog(log: readonly RunEvent[]): Shown {
  const texts: string[] = [];
  const all: Call[] = [];
  const calls = new Map<string, Call>();
  const begin = (key: string, call: Call): void => {
    all.push(call);
    calls.set(key, call);
  };
  for (const event of log) {
    if (event.type === 'interrupt-start' && event.interrupt.kind === 'approval') {
      const { callId, input } = event.interrupt;
      // The arguments as they were parsed: people decide about these.
      const asked = [...calls].filter(([key, call]) => call.output === undefined && key.endsWith(` ${callId}`)).at(-1);
      if (asked !== undefined) asked[1].input = input;
    }
    if (!('runPath' in event) || !isShown(event.runPath)) continue;
    const key = (callId: string): string => `${event.runPath.join('/')} ${callId}`;
    if (event.type === 'model-end' || event.type === 'agent-message') {
      const text = textOf(event.message);
      if (event.message.role === 'assistant' && text !== '') texts.push(text);
      for (const { id, name, input } of toolCallsOf(event.message)) begin(key(id), { tool: name, input });
    } else if (event.type === 'tool-start') {
      const known = calls.get(key(event.callId));
      if (known === undefined) begin(key(event.callId), { tool: event.tool, input: event.input });
      else known.input = event.input;
    } else if (event.type === 'tool-end') {
      const known = calls.get(key(event.callId));
      const [result] = event.message.parts;
      if (known !== undefined && result?.type === 'tool-result') known.output = result.output;
    }
  }
  return { texts: texts.sort(), calls: all.map(({ tool, input, output }) => callLine(tool, input, output)).sort() };
}

/** The same log as a reader has it that was there meanwhile: with tokens, and with what was said in vain. */
function withTokens(log: readonly RunEvent[], random: Random): readonly (RunEvent | Delta)[] {
  return log.flatMap((event): readonly (RunEvent | Delta)[] => {
    if (event.type !== 'model-end' || event.address === undefined || random.chance(0.3)) return [event];
    const of = { agent: event.agent, runPath: event.runPath, address: event.address, attempt: 1 };
    const words = piecesOf(event.message, random).map((text): Delta => ({ ...of, type: 'text-delta', text }));
    const inVain: readonly Delta[] = random.chance(0.3)
      ? [
          { ...of, type: 'text-delta', text: 'In vain. ' },
          { ...of, type: 'attempt-void' },
        ]
      : [];
    return [...inVain, ...words, event];
  });
}

function piecesOf(message: StoredMessage, random: Random): readonly string[] {
  const text = textOf(message);
  const shown = text.slice(0, random.below(text.length + 1));
  const middle = random.below(shown.length + 1);
  return [shown.slice(0, middle), shown.slice(middle)].filter((piece) => piece !== '');
}

function stepsOf(stream: readonly (RunEvent | Delta)[]): readonly ShownStep[] {
  const projection = new Projection();
  return [...stream.flatMap((event) => [...projection.take(event)]), ...projection.end()];
}

async function inPage(steps: readonly ShownStep[]): Promise<Shown> {
  const frames = new UiFrames();
  const parts: readonly UiPart[] = [
    { type: 'start', messageId: 'turn-1' },
    ...steps.flatMap((step) => [...frames.take(step)]),
    ...frames.endStep(),
    { type: 'finish', finishReason: 'stop' },
  ];
  const page = await pageOf(parts);
  const voids = new Set(
    page.parts.flatMap((part) => (part.type === 'data-holdfast-void' && 'data' in part ? [(part.data as { id: string }).id] : [])),
  );
  const texts = page.parts.flatMap((part) => {
    if (part.type !== 'text' || part.text === '') return [];
    const { message } = part.providerMetadata?.['holdfast'] as { message: string };
    return voids.has(message) ? [] : [part.text];
  });
  // Arguments that were changed behind a step stand beside.
  const changed = new Map(
    page.parts.flatMap((part) =>
      part.type === 'data-holdfast-input' && 'data' in part ? [[part.id, (part.data as { input: Json }).input]] : [],
    ),
  );
  const calls = toolsOf(page).map(
    (part: { type: string; toolCallId: string; input: Json; output?: Json; errorText?: string; state: string }) =>
      callLine(
        part.type.slice('tool-'.length),
        changed.get(part.toolCallId) ?? part.input,
        part.state === 'output-denied' ? 'A human rejected the call' : (part.errorText ?? part.output),
      ),
  );
  return { texts: texts.sort(), calls: calls.sort() };
}

/** Each line once: what a client of AG-UI has been told. Arguments are those that the model wrote. */
function inAgui(steps: readonly ShownStep[]): readonly string[] {
  const frames = new AguiFrames(() => false);
  const events = steps.flatMap((step) => [...frames.take(step)]).filter((event): event is AguiEvent => event.type !== 'snapshot-here');
  const voids = new Set(steps.flatMap((step) => (step.step === 'void' ? [step.id] : [])));
  const texts = new Map<string, string>();
  const calls: { readonly id: string; readonly tool: string; args: string }[] = [];
  const lines: string[] = [];
  for (const event of events) {
    if (event.type === 'TEXT_MESSAGE_START' && event.role === 'assistant' && !voids.has(event.messageId))
      texts.set(event.messageId, texts.get(event.messageId) ?? '');
    if (event.type === 'TEXT_MESSAGE_CONTENT' && texts.has(event.messageId))
      texts.set(event.messageId, (texts.get(event.messageId) ?? '') + event.delta);
    if (event.type === 'TOOL_CALL_START') calls.push({ id: event.toolCallId, tool: event.toolCallName, args: '' });
    const call = event.type === 'TOOL_CALL_ARGS' ? calls.filter(({ id }) => id === event.toolCallId).at(-1) : undefined;
    if (call !== undefined && event.type === 'TOOL_CALL_ARGS') call.args += event.delta;
    if (event.type === 'TOOL_CALL_RESULT') lines.push(`result ${event.content}`);
  }
  return [...lines, ...calls.map(({ tool, args }) => `call ${tool} ${args}`), ...[...texts.values()].map((text) => `text ${text}`)].sort();
}

function linesInLog(log: readonly RunEvent[]): readonly string[] {
  return log
    .flatMap((event): readonly string[] => {
      if (!('runPath' in event) || !isShown(event.runPath)) return [];
      if (event.type === 'tool-end') {
        const [result] = event.message.parts;
        const output = result?.type === 'tool-result' ? result.output : null;
        return [`result ${typeof output === 'string' ? output : JSON.stringify(output)}`];
      }
      if (event.type !== 'model-end' && event.type !== 'agent-message') return [];
      const text = textOf(event.message);
      const isSaid = event.message.role === 'assistant' && text !== '';
      const calls = toolCallsOf(event.message).map(({ name, input }) => `call ${name} ${JSON.stringify(input)}`);
      return [...(isSaid ? [`text ${text}`] : []), ...calls];
    })
    .sort();
}

/** What a client of A2A makes of the updates of a stream, and what the task says that another one reads. */
function inA2a(stream: readonly (RunEvent | Delta)[]): { readonly told: readonly string[]; readonly read: readonly string[] } {
  const fold = new TaskFold({ contextId: 'c', message: 'm' });
  const artifacts = new Map<string, readonly Part[]>();
  for (const event of stream) {
    for (const update of fold.take(event)) {
      if (!('artifactUpdate' in update)) continue;
      const { artifact, append, lastChunk } = TaskArtifactUpdateEvent.fromJSON(update.artifactUpdate);
      expect(TaskArtifactUpdateEvent.toJSON({ artifact, append, lastChunk, taskId: 'c~m', contextId: 'c', metadata: undefined })).toEqual(
        update.artifactUpdate,
      );
      const { artifactId = '', parts = [] } = artifact ?? {};
      artifacts.set(artifactId, append ? [...(artifacts.get(artifactId) ?? []), ...parts] : parts);
    }
  }
  const task = Task.fromJSON(fold.task());
  expect(Task.toJSON(task)).toEqual(fold.task());
  return { told: textsIn([...artifacts.values()]), read: textsIn(task.artifacts.map(({ parts }) => parts)) };
}

const textsIn = (artifacts: readonly (readonly Part[])[]): readonly string[] =>
  artifacts
    .map((parts) => textIn(parts))
    .filter((text) => text !== '')
    .sort();

/** What agents say to people. What one says that is a tool is the result of a call. */
const saidIn = (log: readonly RunEvent[]): readonly string[] =>
  log
    .flatMap((event) =>
      (event.type === 'model-end' || event.type === 'agent-message') && isConversation(event.runPath) && event.message.role === 'assistant'
        ? textOf(event.message)
        : [],
    )
    .filter((text) => text !== '')
    .sort();

describe('random scripts', () => {
  const seed = process.env['HOLDFAST_SEED'] ?? String(Date.now() % 1_000_000);

  it(`show clients of AI SDK, AG-UI and A2A what the log says, with tokens and without (seed ${seed})`, async () => {
    const random = new Random(seed);
    for (let number = 0; number < 100; number++) {
      const { end } = await lead(scriptOf(`${seed}/${number}`), `protocol-${number}`, tableInMemory);
      const expected = inLog(end.log);
      for (const stream of [end.log, withTokens(end.log, random)]) {
        const steps = stepsOf(stream);
        expect([number, await inPage(steps)]).toEqual([number, expected]);
        expect([number, inAgui(steps)]).toEqual([number, linesInLog(end.log)]);
        const said = saidIn(end.log);
        expect([number, inA2a(stream)]).toEqual([number, { told: said, read: said }]);
      }
    }
  });
});
