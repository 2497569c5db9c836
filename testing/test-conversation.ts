import { Conversation } from '../client/conversations/conversation';
import type { ConversationChannel } from '../client/conversations/conversation';
import type { ConversationOptions } from '../client/conversations/conversation-options';
import { conversationStartOf } from '../client/conversations/conversation-options';
import { defined } from '../contract/defined';
import type { RunEvent } from '../contract/events';
import type { Json } from '../contract/messages/messages';
import { defaultTenant } from '../contract/names';
import type { Agent } from '../kernel/define/agent-ref';
import type { MemoryRun } from './memory/run';
import { TestRun } from './test-run';
import type { TestWorld } from './test-world';
import { checkWorld, memoryRun, worldOf } from './test-world';

export interface TestConversationOptions extends TestWorld, Omit<ConversationOptions, 'model' | 'deadline'> {
  readonly id?: string;
}

/**
 * Begins an empty conversation in memory.
 * @example
 * const chat = await testConversation(support, { model, tools, idle: '30d' });
 * await chat.send('Where is order 42?');
 * await chat.run.advance('30d');
 * expect((await chat.view()).ended).toEqual({ reason: 'idle' });
 */
export async function testConversation<Input extends Json>(
  agent: Agent<string, Input, unknown>,
  options: TestConversationOptions,
): Promise<TestConversation> {
  const { world, start } = worldOf(options);
  checkWorld('testConversation', agent, world);
  const { id = 'test', ...rest } = start;
  const input = conversationStartOf({ id, tenant: world.tenant ?? defaultTenant, agent: agent.name }, rest);
  return new TestConversation(await memoryRun(agent, input, world), id);
}

/**
 * A conversation in memory, and its run.
 * @example
 * const chat: TestConversation = await testConversation(support, { model, tools });
 * expect(await chat.send('Hi.')).toMatchObject({ turn: 1 });
 * await chat.turn(1);
 * expect(await chat.run.interrupts()).toEqual([]);
 */
export class TestConversation extends Conversation {
  readonly run: TestRun;

  constructor(run: MemoryRun, id: string) {
    const shown = new TestRun(run, id);
    super(id, new MemoryChannel(run, shown));
    this.run = shown;
  }
}

class MemoryChannel implements ConversationChannel {
  constructor(
    private readonly run: MemoryRun,
    private readonly shown: TestRun,
  ) {}

  command(...[command]: Parameters<ConversationChannel['command']>): ReturnType<ConversationChannel['command']> {
    return this.run.converse(command);
  }

  async view(): ReturnType<ConversationChannel['view']> {
    await this.run.idle();
    return this.run.view();
  }

  events(from: number, signal?: AbortSignal): AsyncGenerator<RunEvent> {
    return this.shown.events({ from, ...defined({ signal }) });
  }

  async *eventsBack(): AsyncGenerator<readonly RunEvent[]> {
    await this.run.idle();
    yield [...this.run.events];
  }
}
