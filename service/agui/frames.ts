import { isShown } from '../../contract/record/agent-paths';
import { defined } from '../../contract/defined';
import type { RunEvent } from '../../contract/events';
import type { Usage } from '../../contract/messages/messages';
import type { ShownStep } from '../projection/steps';
import { resultOf } from '../projection/content';
import { contentOf } from './content';
import type { AguiEvent, AguiMessage, AguiUsage } from './events';
import { clientIdOf } from './message-ids';
import { OpenAgents } from './open-agents';
import { reasoningIdOf, stateEventOf } from './history';

/** The client shows void texts, and needs a snapshot of all messages. */
export interface SnapshotHere {
  readonly type: 'snapshot-here';
  /** Open texts, still missing in the log. */
  readonly open: readonly AguiMessage[];
}

export class AguiFrames {
  private readonly agents = new OpenAgents();
  private readonly texts = new Map<string, string>();
  private readonly outputs = new Set<string>();

  constructor(
    private readonly known: (id: string) => boolean,
    /** Calls whose results the client sent. */
    private readonly given: ReadonlySet<string> = new Set(),
  ) {}

  *take(step: ShownStep): Generator<AguiEvent | SnapshotHere, void, void> {
    if (step.step === 'event') return yield* this.event(step.event);
    if (!isShown(step.runPath)) return;
    yield* this.agents.begin(step.runPath);
    const tag = defined({ subagentRunId: this.agents.tagOf(step.runPath) });
    switch (step.step) {
      case 'text-start':
        this.texts.set(step.id, this.texts.get(step.id) ?? '');
        return yield { type: 'TEXT_MESSAGE_START', messageId: step.id, role: 'assistant', ...tag };
      case 'text':
        this.texts.set(step.id, (this.texts.get(step.id) ?? '') + step.text);
        return yield { type: 'TEXT_MESSAGE_CONTENT', messageId: step.id, delta: step.text, ...tag };
      case 'text-end':
        return yield { type: 'TEXT_MESSAGE_END', messageId: step.id, ...tag };
      case 'reasoning-start': {
        const messageId = reasoningIdOf(step.id);
        yield { type: 'REASONING_START', messageId, ...tag };
        return yield { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning', ...tag };
      }
      case 'reasoning':
        return yield { type: 'REASONING_MESSAGE_CONTENT', messageId: reasoningIdOf(step.id), delta: step.text, ...tag };
      case 'reasoning-end': {
        const messageId = reasoningIdOf(step.id);
        yield { type: 'REASONING_MESSAGE_END', messageId, ...tag };
        return yield { type: 'REASONING_END', messageId, ...tag };
      }
      case 'call-start':
        return yield { type: 'TOOL_CALL_START', toolCallId: step.callId, toolCallName: step.tool, parentMessageId: step.id, ...tag };
      case 'call-input':
        return yield { type: 'TOOL_CALL_ARGS', toolCallId: step.callId, delta: step.text, ...tag };
      case 'call-end':
        return yield { type: 'TOOL_CALL_END', toolCallId: step.callId, ...tag };
      case 'void':
        this.texts.delete(step.id);
        return yield this.snapshotHere();
      case 'message':
        this.texts.delete(step.id);
        return;
      case 'result': {
        if (this.given.has(step.callId)) return;
        const { content } = resultOf(step.message);
        return yield { type: 'TOOL_CALL_RESULT', messageId: step.message.id, toolCallId: step.callId, content, role: 'tool', ...tag };
      }
      case 'progress':
        return yield {
          type: 'ACTIVITY_SNAPSHOT',
          messageId: `${step.callId}.progress`,
          activityType: 'holdfast.progress',
          content: { tool: step.tool, callId: step.callId, data: step.data },
          ...tag,
        };
      case 'output': {
        const of = { messageId: `${step.callId}.output`, activityType: 'holdfast.output', ...tag };
        if (this.outputs.has(step.callId))
          return yield { type: 'ACTIVITY_DELTA', ...of, patch: [{ op: 'replace', path: '/text', value: step.all }] };
        this.outputs.add(step.callId);
        return yield { type: 'ACTIVITY_SNAPSHOT', ...of, content: { tool: step.tool, callId: step.callId, text: step.all } };
      }
    }
  }

  *end(how: 'success' | 'suspended'): Generator<AguiEvent, void, void> {
    yield* this.agents.endAll(how);
  }

  private *event(event: RunEvent): Generator<AguiEvent | SnapshotHere, void, void> {
    switch (event.type) {
      case 'message': {
        const messageId = clientIdOf(event.id);
        if (this.known(messageId)) return;
        const content = contentOf(event.message);
        // Only a snapshot can have files.
        if (typeof content !== 'string') return yield this.snapshotHere();
        yield { type: 'TEXT_MESSAGE_START', messageId, role: 'user', ...defined({ name: event.by }) };
        yield { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: content };
        return yield { type: 'TEXT_MESSAGE_END', messageId };
      }
      case 'agent-start':
        return yield* isShown(event.runPath) ? this.agents.begin(event.runPath) : [];
      case 'agent-end':
        return yield* this.agents.end(event.runPath, event.error);
      case 'custom':
        return yield stateEventOf(event) ?? { type: 'CUSTOM', name: event.name, value: event.data };
      default:
        return;
    }
  }

  private snapshotHere(): SnapshotHere {
    const open = [...this.texts].map(([id, content]) => ({ id, role: 'assistant' as const, content }));
    return { type: 'snapshot-here', open };
  }
}

export function usageOf({ inputTokens, outputTokens, reasoningTokens, cachedInputTokens }: Usage): readonly AguiUsage[] {
  const totalTokens = inputTokens + outputTokens;
  return totalTokens === 0 ? [] : [{ inputTokens, outputTokens, totalTokens, ...defined({ reasoningTokens, cachedInputTokens }) }];
}
