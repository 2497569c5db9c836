import {
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import type { WorkflowClient } from '@temporalio/client';
import type { Action, Author } from '../../contract/access';
import type { ConversationCommand, ConversationReply, BuildOfQueue } from '../../contract/conversations';
import { defined } from '../../contract/defined';
import { HoldfastError, messageOf } from '../../contract/errors';
import type { RunEvent, RunView } from '../../contract/events';
import { isEnded } from '../../contract/events';
import { names } from '../../contract/names';
import { askedAgain, isTimeout } from '../runs/asked-again';
import type { KeptAnswer } from '../runs/kept-answer';
import type { ConversationChannel } from './conversation';
import { notOne, unknownConversation } from './conversation';
import type { Authority, RunForCaller } from '../connection/authority';
import { withCode } from '../connection/lost-server';
import { refusedAnswer } from '../connection/refusals';
import type { RunReader } from '../reading/run-reader';
import type { StartOperation } from '../runs/start-operation';

/** How long a command waits for a worker, before a message is left as a signal. */
const patienceMs = 5000;

const beginning: ReadonlySet<ConversationCommand['type']> = new Set(['send', 'pause', 'title']);

interface ChannelSettings {
  readonly workflow: WorkflowClient;
  readonly reader: RunReader;
  readonly acting: Authority;
  readonly workflowId: string;
  readonly id: string;
  readonly newest: Pick<KeptAnswer<BuildOfQueue | undefined>, 'get'>;
  readonly start?: (author: Author) => StartOperation;
  /** For the check of a conversation that has not begun. */
  readonly asNew?: RunForCaller;
}

export class RunChannel implements ConversationChannel {
  constructor(private readonly settings: ChannelSettings) {}

  permit(action: Action): Promise<void> {
    const { acting, workflowId, asNew } = this.settings;
    return acting.check(action, workflowId, asNew);
  }

  author(claimed: Author): Author {
    return this.settings.acting.author(claimed);
  }

  async view(): Promise<RunView> {
    const { reader, workflowId, id } = this.settings;
    await this.permit('runs:read');
    try {
      return await reader.view(workflowId);
    } catch (error) {
      throw unknownConversation(id, error);
    }
  }

  async *events(from: number, signal?: AbortSignal): AsyncGenerator<RunEvent> {
    const { reader, workflowId } = this.settings;
    await this.permit('runs:read');
    yield* reader.events(workflowId, { from, deltas: false, ...defined({ signal }) }) as AsyncGenerator<RunEvent>;
  }

  async *eventsBack(): AsyncGenerator<readonly RunEvent[]> {
    const { reader, workflowId, id } = this.settings;
    await this.permit('runs:read');
    try {
      yield* reader.eventsBack(workflowId);
    } catch (error) {
      throw unknownConversation(id, error);
    }
  }

  command(command: ConversationCommand): Promise<ConversationReply | undefined> {
    const { reader, newest } = this.settings;
    const at = Date.now();
    return reader.work.wait(async () =>
      this.deliver({ ...command, at, ...(command.type === 'send' ? defined({ newest: await newest.get() }) : {}) }),
    );
  }

  private async deliver(command: ConversationCommand): Promise<ConversationReply | undefined> {
    const { reader } = this.settings;
    const until = Date.now() + patienceMs;
    try {
      const reply = await askedAgain(
        () => reader.withDeadline(until, () => this.update(command)),
        () => this.isOpen(command.type),
        until,
      );
      reader.executions.changed();
      return reply;
    } catch (error) {
      if (error instanceof WorkflowUpdateFailedError) throw refusedAnswer(error);
      if (command.type === 'end' && wasClosing(error) && (await this.hasEnded())) return {};
      if (!isTimeout(error)) throw await this.explained(error);
      if (command.type !== 'send') throw await this.untaken(error);
      await this.leave(command);
      return undefined;
    }
  }

  private update(command: ConversationCommand): Promise<ConversationReply> {
    const { workflow, reader, workflowId, start } = this.settings;
    if (start === undefined || !beginning.has(command.type))
      return reader
        .handle(workflowId)
        .executeUpdate<ConversationReply, [ConversationCommand]>(names.conversationUpdate, { args: [command] });
    reader.checkOpen();
    const startWorkflowOperation = new WithStartWorkflowOperation(names.workflow, {
      ...start(authorOf(command)),
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
    return workflow.executeUpdateWithStart<never, ConversationReply, [ConversationCommand]>(names.conversationUpdate, {
      args: [command],
      startWorkflowOperation: startWorkflowOperation as never,
    });
  }

  /** The run may also get the update, but a message id counts once. */
  private async leave(command: ConversationCommand): Promise<void> {
    const { workflow, reader, workflowId, start } = this.settings;
    try {
      if (start === undefined) await reader.handle(workflowId).signal(names.conversationSignal, command);
      else
        await workflow.signalWithStart(names.workflow, {
          ...start(authorOf(command)),
          workflowIdConflictPolicy: 'USE_EXISTING',
          signal: names.conversationSignal,
          signalArgs: [command],
        });
    } catch (error) {
      throw await this.explained(error);
    }
  }

  private async untaken(cause: unknown): Promise<HoldfastError> {
    const view = await this.view().catch(() => undefined);
    if (view?.status === 'stuck') return new HoldfastError('run-stuck', view.error?.message ?? 'The conversation is stuck.', { cause });
    const what = `what was asked of the conversation "${this.settings.id}"`;
    return new HoldfastError('worker-missing', `No worker took ${what} within ${patienceMs / 1000} s.`, { cause });
  }

  private async hasEnded(): Promise<boolean> {
    const { conversation } = await this.view();
    return conversation?.ended?.reason === 'asked';
  }

  private async isOpen(type: ConversationCommand['type']): Promise<boolean> {
    const { reader, workflowId, start } = this.settings;
    try {
      return (await reader.executions.describe(workflowId)).status.name === 'RUNNING';
    } catch (error) {
      const mayBegin = start !== undefined && beginning.has(type);
      if (mayBegin && (error as { code?: unknown }).code === 'run-unknown') return true;
      throw error;
    }
  }

  private async explained(error: unknown): Promise<unknown> {
    const { id } = this.settings;
    const isClosed =
      error instanceof WorkflowNotFoundError ||
      error instanceof WorkflowExecutionAlreadyStartedError ||
      /already (completed|started)/i.test(messageOf(error));
    if (!isClosed) {
      await this.settings.reader.executions.explain(error);
      return withCode(error);
    }
    const { status, conversation } = await this.view();
    if (conversation === undefined) return notOne(id);
    return isEnded(status)
      ? new HoldfastError('conversation-ended', `The conversation "${id}" has ended (${status}).`, { cause: error })
      : error;
  }
}

function authorOf(command: ConversationCommand): Author {
  const { by, roles, proof }: Author = command.type === 'send' ? (command.messages[0] ?? {}) : command;
  return defined({ by, roles, proof });
}

/** The run took the update, and closed before the reply. */
function wasClosing(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError && /aborted by closing/i.test(error.message);
}
