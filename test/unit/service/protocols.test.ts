import type { Part } from '@a2a-js/sdk';
import { Task, TaskArtifactUpdateEvent } from '@a2a-js/sdk';
import type { Delta } from '../../../contract/deltas';
import type { RunEvent } from '../../../contract/events';
import type { Json, StoredMessage } from '../../../contract/messages/messages';
import { textOf, toolCallsOf } from '../../../contract/messages/messages';
import { isConversation, isShown } from '../../../contract/record/agent-paths';
import { TaskFold } from '../../../service/a2a/task-fold';
import type { AguiEvent } from '../../../service/agui/events';
import { AguiFrames } from '../../../service/agui/frames';
import { UiFrames } from '../../../service/ai-sdk/frames';
import { isAskedInWords, wordsOf } from '../../../service/responses/answers';
import { ResponseOutput } from '../../../service/responses/output';
import type { OutputEvent } from '../../../service/responses/types';
import type { UiPart } from '../../../service/ai-sdk/parts';
import { askedCall } from '../../../service/projection/asked-call';
import { Projection } from '../../../service/projection/projection';
import type { ShownStep } from '../../../service/projection/steps';
import { scriptOf } from '../../parity/generate';
import { lead } from '../../parity/play';
import { Random } from '../../parity/random';
import { tableInMemory } from '../../parity/tables';
import { textIn } from '../../support/a2a-bed';
import { pageOf, toolsOf } from '../../support/ai-sdk-page';
import { seed } from '../../support/seed';

interface Shown {
  readonly texts: readonly string[];
  readonly calls: readonly string[];
}

interface Call {
  readonly callId: string;
  readonly path: string;
  readonly tool: string;
  input: Json;
  output?: Json;
  approval?: string;
  isDenied?: boolean;
}

const rejected = /^A human rejected the call/;

const callLine = (tool: string, input: Json, output: Json | undefined): string =>
  `${tool} ${JSON.stringify(input)} ${output === undefined ? '' : typeof output !== 'string' ? JSON.stringify(output) : rejected.test(output) ? 'denied' : output}`;

/** By agent and id, because agents and messages may repeat ids. */
function inLog(log: readonly RunEvent[]): { readonly texts: readonly string[]; readonly calls: readonly Call[] } {
  const texts: string[] = [];
  const calls: Call[] = [];
  for (const event of log) {
    if (event.type === 'interrupt-start' && event.interrupt.kind === 'approval') {
      // The parsed arguments, on which people decide.
      const open = calls.filter(({ output }) => output === undefined);
      const asked = askedCall(open, event.interrupt);
      if (asked !== undefined) Object.assign(asked, { input: event.interrupt.input, approval: event.interrupt.id });
    }
    if (event.type === 'interrupt-end') {
      const decided = calls.find(({ approval }) => approval === event.interruptId);
      if (decided !== undefined) decided.isDenied = (event.answer as { type?: Json } | null)?.type === 'reject';
    }
    if (!('runPath' in event) || !isShown(event.runPath)) continue;
    const path = event.runPath.join('/');
    const known = (callId: string) => calls.filter((call) => call.callId === callId && call.path === path).at(-1);
    if (event.type === 'model-end' || event.type === 'agent-message') {
      const text = textOf(event.message);
      if (event.message.role === 'assistant' && text !== '') texts.push(text);
      for (const { id, name, input } of toolCallsOf(event.message)) calls.push({ callId: id, path, tool: name, input });
    } else if (event.type === 'tool-start') {
      const call = known(event.callId);
      if (call === undefined) calls.push({ callId: event.callId, path, tool: event.tool, input: event.input });
      else call.input = event.input;
    } else if (event.type === 'tool-end') {
      const call = known(event.callId);
      const [result] = event.message.parts;
      if (call !== undefined && result?.type === 'tool-result') call.output = result.output;
    }
  }
  return { texts: texts.sort(), calls };
}

function forPage({ texts, calls }: ReturnType<typeof inLog>): Shown {
  const lines = calls.map(({ tool, input, output, isDenied }) =>
    callLine(tool, input, isDenied === true && output !== undefined ? 'A human rejected the call' : output),
  );
  return { texts, calls: lines.sort() };
}

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

function inA2a(stream: readonly (RunEvent | Delta)[]): { readonly told: readonly string[]; readonly read: readonly string[] } {
  const begin = { type: 'message', agent: 'a', runPath: ['a'], turn: 1, id: 'm', mode: 'after-turn', offset: 0, time: 0 } as const;
  const message: RunEvent = { ...begin, message: { id: 'sent.m', role: 'user', parts: [{ type: 'text', text: 'Hi.' }] } };
  const fold = new TaskFold({ contextId: 'c', message: 'm' });
  const artifacts = new Map<string, readonly Part[]>();
  for (const event of [message, ...stream]) {
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

const saidIn = (log: readonly RunEvent[]): readonly string[] =>
  log
    .flatMap((event) =>
      (event.type === 'model-end' || event.type === 'agent-message') && isConversation(event.runPath) && event.message.role === 'assistant'
        ? textOf(event.message)
        : [],
    )
    .filter((text) => text !== '')
    .sort();
function inResponse(steps: readonly ShownStep[]): Shown {
  const output = new ResponseOutput('x');
  const events = [...steps.flatMap((step) => [...output.take(step)]), ...output.close()];
  const told = new Map<string | undefined, unknown>();
  for (const event of events) if (event.type === 'response.output_item.done') told.set(event.item.id, event.item);
  expect(output.all.map(({ id }) => told.get(id))).toEqual(output.all);
  expect(textsByDeltas(events)).toEqual(textsWhenDone(events));
  const texts = output.all.flatMap((item) =>
    item.type === 'message' ? item.content.map((part) => (part.type === 'output_text' ? part.text : '')) : [],
  );
  const calls = output.all.flatMap((item) =>
    item.type === 'mcp_call' && item.status !== 'incomplete'
      ? [callLine(item.name, JSON.parse(item.arguments) as Json, item.error ?? item.output ?? '')]
      : [],
  );
  return { texts: texts.sort(), calls: calls.sort() };
}

function textsByDeltas(events: readonly OutputEvent[]): readonly string[] {
  const texts = new Map<string, string>();
  for (const event of events)
    if (event.type === 'response.output_text.delta') texts.set(event.item_id, (texts.get(event.item_id) ?? '') + event.delta);
  return [...texts.values()].map((text) => text.replace(/^(In vain\. )+/, '')).sort();
}

const textsWhenDone = (events: readonly OutputEvent[]): readonly string[] =>
  events.flatMap((event) => (event.type === 'response.output_text.done' ? [event.text] : [])).sort();

function forResponse(log: readonly RunEvent[], { texts, calls }: ReturnType<typeof inLog>): Shown {
  const asked = log.flatMap((event) =>
    event.type === 'interrupt-start' && isAskedInWords(event.interrupt) ? [wordsOf(event.interrupt)] : [],
  );
  const lines = calls.flatMap(({ tool, input, output }) => (output === undefined ? [] : [callLine(tool, input, output)]));
  return { texts: [...texts, ...asked].sort(), calls: lines.sort() };
}

/** A failed task or response stays failed, so a retry adds nothing. */
function untilRetry<Entry extends { readonly type: string }>(log: readonly Entry[]): readonly Entry[] {
  const retried = log.findIndex(({ type }) => type === 'run-retry');
  return retried === -1 ? log : log.slice(0, retried);
}

describe('random scripts', () => {
  it(`show clients of AI SDK, of AG-UI, of A2A and of OpenAI what the log says, with tokens and without (seed ${seed})`, async () => {
    const random = new Random(seed);
    for (let number = 0; number < 100; number++) {
      const { end } = await lead(scriptOf(`${seed}/${number}`), `protocol-${number}`, tableInMemory);
      const expected = inLog(end.log);
      for (const stream of [end.log, withTokens(end.log, random)]) {
        const steps = stepsOf(stream);
        expect([number, await inPage(steps)]).toEqual([number, forPage(expected)]);
        expect([number, inAgui(steps)]).toEqual([number, linesInLog(end.log)]);
        const ended = untilRetry(end.log);
        const said = saidIn(ended);
        expect([number, inA2a(untilRetry(stream))]).toEqual([number, { told: said, read: said }]);
        expect([number, inResponse(stepsOf(untilRetry(stream)))]).toEqual([number, forResponse(ended, inLog(ended))]);
      }
    }
  });
});
