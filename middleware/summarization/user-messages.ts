import type { Message } from '../../contract/messages/messages';
import { textOf } from '../../contract/messages/messages';
import { tokensOfText } from '../token-count';

export const summaryMark = 'summarization';

function isSummary({ extra }: Message): boolean {
  return extra?.[summaryMark] !== undefined;
}

const reminderMarks = ['agentsMd', 'toolSearch'];

export function isMade(message: Message): boolean {
  return isSummary(message) || reminderMarks.some((mark) => message.extra?.[mark] !== undefined);
}

const longestTrimmed = 2000;
const block = /<all_user_messages>[\s\S]*?<\/all_user_messages>/g;

export function withUserMessages(summary: string, messages: readonly Message[], mostTokens: number): string {
  const last = [...summary.matchAll(block)].at(-1);
  if (last === undefined) return summary;
  const said = keptUserMessages(messages, mostTokens).map((text) => `- ${text}\n`);
  // Only an earlier summary has the words from before it.
  const filled = `<all_user_messages>\n${earlierWords(messages)}${said.join('')}</all_user_messages>`;
  return summary.slice(0, last.index) + filled + summary.slice(last.index + last[0].length);
}

function earlierWords(messages: readonly Message[]): string {
  const earlier = messages.filter(isSummary).at(-1);
  const found = earlier === undefined ? undefined : [...textOf(earlier).matchAll(block)].at(-1)?.[0];
  const words = found?.slice(found.indexOf('>') + 1, found.lastIndexOf('<')).trim() ?? '';
  return words === '' ? '' : `${words}\n`;
}

function keptUserMessages(messages: readonly Message[], mostTokens: number): readonly string[] {
  const kept: string[] = [];
  let left = mostTokens;
  for (const message of messages.filter((one) => one.role === 'user' && !isMade(one)).reverse()) {
    const text = textOf(message);
    const tokens = tokensOfText(text);
    if (tokens <= left) {
      if (text !== '') kept.unshift(text);
      left -= tokens;
      continue;
    }
    const trimmed = trimmedUserMessage(text, left);
    if (trimmed !== undefined) kept.unshift(trimmed);
    break;
  }
  return kept;
}

export function trimmedUserMessage(text: string, tokensLeft: number): string | undefined {
  if (tokensLeft <= 0 || text === '') return undefined;
  const most = Math.min(longestTrimmed, tokensLeft * 4);
  if (text.length <= most) return text;
  const end = /[\uD800-\uDBFF]/.test(text.charAt(most - 1)) ? most - 1 : most;
  return `${text.slice(0, end)}…`;
}
