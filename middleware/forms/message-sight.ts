import { HoldfastError } from '../../contract/errors';
import type { MessageShape, MessageShapes } from '../../contract/messages/message-shapes';
import { messagesIn, storedOf } from '../../contract/messages/message-shapes';
import type { Message } from '../../contract/messages/messages';
import { frozen } from '../../contract/freeze';

export class MessageSight<Shape extends MessageShape> {
  private readonly behind = new Map<unknown, { readonly message: Message; readonly shown: readonly MessageShapes[Shape][] }>();
  private readonly made = new Map<unknown, readonly Message[]>();

  constructor(
    private readonly shape: Shape,
    private readonly label: string,
  ) {}

  show(messages: readonly Message[]): readonly MessageShapes[Shape][] {
    return frozen(
      messages.flatMap((message) => {
        const shown = frozen(messagesIn(this.shape, [message]));
        this.behind.set(shown[0], { message, shown });
        return shown;
      }),
    );
  }

  showOne(message: Message): MessageShapes[Shape] {
    return this.show([message])[0] as MessageShapes[Shape];
  }

  take(messages: readonly MessageShapes[Shape][]): readonly Message[] {
    if (!Array.isArray(messages)) throw new HoldfastError('message-invalid', `${this.label} returned messages that are no list.`);
    const taken: Message[] = [];
    for (let position = 0; position < messages.length;) {
      const known = this.behind.get(messages[position]);
      if (known?.shown.every((piece, n) => messages[position + n] === piece) === true) {
        taken.push(known.message);
        position += known.shown.length;
      } else {
        taken.push(...this.stored(messages[position] as MessageShapes[Shape], `${this.label}, message ${position}`));
        position += 1;
      }
    }
    return taken;
  }

  takeOne(message: MessageShapes[Shape], what: string): Message {
    const known = this.behind.get(message);
    if (known?.shown.length === 1) return known.message;
    const [stored, ...others] = this.stored(message, `${what} of ${this.label}`);
    if (stored === undefined || others.length > 0)
      throw new HoldfastError(
        'message-invalid',
        `${what} of ${this.label} is several messages: results of tools stand in messages of their own.`,
      );
    return stored;
  }

  /** A message both in a list and in the answer is stored once. */
  private stored(message: MessageShapes[Shape], origin: string): readonly Message[] {
    const before = this.made.get(message);
    if (before !== undefined) return before;
    const stored = storedOf(message, origin);
    this.made.set(message, stored);
    return stored;
  }
}
