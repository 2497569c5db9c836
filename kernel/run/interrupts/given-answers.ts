import type { EventBody } from '../../../contract/events';
import type { Answer } from '../../../contract/interrupts';
import type { Failure } from '../../../contract/messages/messages';
import { canonicalJson } from '../../../contract/messages/messages';

export type InterruptEnd = Omit<Extract<EventBody, { type: 'interrupt-end' }>, 'type' | 'interruptId'>;

export type Told = (refused?: Failure) => void;

export class GivenAnswers {
  private readonly given = new Map<string, { readonly answer: Answer; readonly told: Told | undefined }>();

  constructor(
    /** A signal has no reply, so the log reports the refusal. */
    private readonly ignored: (answer: Answer, refused: Failure) => void,
  ) {}

  has(id: string): boolean {
    return this.given.has(id);
  }

  add(answer: Answer, told: Told | undefined): void {
    this.given.set(answer.interruptId, { answer, told });
  }

  end(id: string, end: InterruptEnd, whyNot: Failure): void {
    const given = this.given.get(id);
    if (given === undefined) return;
    this.given.delete(id);
    const { answer, told } = given;
    const refused = isEndBy(answer, end) ? undefined : whyNot;
    if (told !== undefined) told(refused);
    else if (refused !== undefined) this.ignored(answer, refused);
  }

  refuseAll(whyNot: (id: string) => Failure): void {
    const all = [...this.given];
    this.given.clear();
    for (const [id, { told }] of all) told?.(whyNot(id));
  }
}

/** Another person may have answered the agent directly. */
function isEndBy(given: Answer, { reason, answer, by }: InterruptEnd): boolean {
  return reason === 'answer' && by === given.by && canonicalJson(answer) === canonicalJson(given.answer);
}
