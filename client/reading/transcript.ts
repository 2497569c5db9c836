import type { MessageShape, MessageShapes } from '../../contract/messages/message-shapes';
import { messageShapes, messagesIn } from '../../contract/messages/message-shapes';
import { HoldfastError } from '../../contract/errors';
import type { StoredMessage } from '../../contract/messages/messages';
import { optionsOf } from '../connection/options';

export type TranscriptShape = MessageShape;

/** A message of a transcript. A stored message has an id; in other shapes, several messages may replace it. */
export type TranscriptMessage<Shape extends TranscriptShape> = Shape extends 'parts' ? StoredMessage : MessageShapes[Shape];

export function shapeOf<Shape extends TranscriptShape>(options: { readonly shape?: Shape }): Shape {
  const { shape = 'parts' } = optionsOf(options, 'transcript');
  if (!messageShapes.includes(shape))
    throw new HoldfastError('request-invalid', `"${String(shape)}" is no shape of messages. There are: ${messageShapes.join(', ')}.`);
  return shape as Shape;
}

export function transcriptIn<Shape extends TranscriptShape>(
  shape: Shape,
  messages: readonly StoredMessage[],
): readonly TranscriptMessage<Shape>[] {
  return messagesIn(shape, messages) as readonly TranscriptMessage<Shape>[];
}
