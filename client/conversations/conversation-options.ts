import { duration, form, oneOf, whole } from '../../contract/check';
import type { ConversationStart } from '../../contract/conversations';
import { conversationDefaults } from '../../contract/conversations';
import { defined } from '../../contract/defined';
import { millisecondsOf } from '../../contract/duration';
import type { Message } from '../../contract/messages/messages';
import type { StartInput } from '../../contract/record/wire';
import { optionsOf } from '../connection/options';
import type { StartOptions } from '../runs/start-input';
import { startInputOf } from '../runs/start-input';

/** Options of a new conversation. Later options change nothing. */
export interface ConversationOptions extends Omit<StartOptions, 'id' | 'startDelay' | 'runPendingToolCalls'> {
  /** The idle time before the end, such as '30d'. Default: forever. */
  readonly idle?: string;
  /** The most earlier messages at the start of a turn. Default: 200. */
  readonly window?: number;
  /** Default: the first words of the first message. */
  readonly title?: string;
  /** `pinned`: all turns keep the first build. Default: each turn begins under the newest build. */
  readonly build?: 'pinned' | 'newest';
  /** Earlier messages. */
  readonly messages?: readonly Message[];
}

const mostInWindow = 2000;

export function conversationStartOf(
  { id, ...place }: Pick<StartInput, 'id' | 'tenant' | 'agent' | 'externalStorage'>,
  options: ConversationOptions,
): StartInput {
  const {
    idle,
    window,
    title,
    build,
    messages = [],
    ...rest
  } = optionsOf<ConversationOptions>(options, 'The conversation', {
    idle: duration,
    window: whole(1, mostInWindow),
    title: form((value) => typeof value === 'string' && value !== '' && value.length <= 200, 'a string of 1 to 200 characters'),
    build: oneOf('pinned', 'newest'),
  });
  const start = startInputOf(place, messages, { ...rest, id });
  const conversation: ConversationStart = {
    window: window ?? conversationDefaults.window,
    ...defined({ title, idleMs: idle === undefined ? undefined : millisecondsOf(idle, 'input-invalid') }),
    ...(build === 'pinned' ? { build } : {}),
  };
  return { ...start, conversation };
}
