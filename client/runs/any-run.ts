import { defined } from '../../contract/defined';
import type { ApprovalDecision } from '../../contract/decisions';
import type { RunView } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import type { Json, Usage } from '../../contract/messages/messages';
import type { AnswerOptions, ApproveOptions, DelegateOptions, RejectOptions } from './answers';
import { optionsOf } from '../connection/options';
import type { TranscriptMessage, TranscriptShape } from '../reading/transcript';
import { shapeOf, transcriptIn } from '../reading/transcript';

export abstract class AnyRun {
  /** The view, once a run in memory stands still. */
  protected abstract stillView(): Promise<RunView>;

  abstract resume(interruptId: string, answer: Json, options?: AnswerOptions): Promise<void>;

  /** Returns the messages. Default shape: as stored. */
  async transcript<Shape extends TranscriptShape = 'parts'>(
    options: { readonly shape?: Shape } = {},
  ): Promise<readonly TranscriptMessage<Shape>[]> {
    const shape = shapeOf(options);
    return transcriptIn(shape, (await this.stillView()).messages);
  }

  async usage(): Promise<Usage> {
    return (await this.stillView()).usage;
  }

  async interrupts(): Promise<readonly Interrupt[]> {
    return (await this.stillView()).interrupts;
  }

  async approve(interruptId: string, options: ApproveOptions = {}): Promise<void> {
    const { editedInput, forRestOfRun, upTo, comment, ...who } = optionsOf(options, 'The approval');
    const decision: ApprovalDecision = { type: 'approve', ...defined({ editedInput, forRestOfRun, upTo, comment }) };
    return this.resume(interruptId, decision, who);
  }

  async reject(interruptId: string, feedback?: string, options: RejectOptions = {}): Promise<void> {
    const { comment, ...who } = optionsOf(options, 'The rejection');
    return this.resume(interruptId, { type: 'reject', ...defined({ feedback, comment }) }, who);
  }

  /** Delegates the decision of a policy to another person. */
  async delegate(interruptId: string, to: string, options: DelegateOptions = {}): Promise<void> {
    const { comment, ...who } = optionsOf(options, 'The delegation');
    return this.resume(interruptId, { type: 'delegate', to, ...defined({ comment }) }, who);
  }
}
