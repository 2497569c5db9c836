import { defined } from '../../contract/defined';
import type { Message, Part } from '../../contract/messages/messages';
import type { AgentMiddleware } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';
import { Redactor } from './redactor';
import type { PiiOptions } from './rules';
import { checkedRules } from './rules';

export type { CustomPattern, PiiOptions, PiiPlace, Strategy } from './rules';

/**
 * Hides personal data: changes answers and results on the worker before any reader or record, and words of users in the state.
 * @example
 * export const discreet = pii({
 *   email: 'redact',
 *   creditCard: 'mask',
 *   custom: { ticket: { pattern: 'TCK-[0-9]{6}', strategy: 'redact' } },
 * });
 */
export function pii(options: PiiOptions): AgentMiddleware {
  const { name, rules, places } = checkedRules(options);
  const input = places.includes('input') ? new Redactor(rules, 'what a user said') : undefined;
  // For results without a worker tool, such as words of a person.
  const tools = places.includes('tools') ? new Redactor(rules, 'the result of a tool') : undefined;
  const changed = (message: Message): Message => {
    if (message.role === 'user') return input?.message(message, isSaid) ?? message;
    return message.role === 'tool' ? (tools?.message(message, () => true) ?? message) : message;
  };
  return withTraits<AgentMiddleware>(
    {
      name,
      onWorker: { name: 'pii', options: { rules: rules.map((rule) => ({ ...rule })), places } },
      ...(input === undefined && tools === undefined
        ? {}
        : {
            beforeModelRewriteState({ messages }, { iteration }) {
              const start = iteration <= 1 ? 0 : messages.map(({ role }) => role).lastIndexOf('assistant') + 1;
              const after = messages.map((message, position) => (position < start ? message : changed(message)));
              return after.every((message, position) => message === messages[position]) ? undefined : { messages: after };
            },
          }),
    },
    {
      offersTools: [],
      ...defined({ changesToolEnd: tools === undefined ? undefined : (message: Message) => tools.message(message, () => true) }),
    },
  );
}

function isSaid({ type }: Part): boolean {
  return type === 'text';
}
