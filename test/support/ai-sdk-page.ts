import type { ChatInit, ChatState, ChatStatus, UIMessage } from 'ai';
import {
  AbstractChat,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  readUIMessageStream,
  uiMessageChunkSchema,
} from 'ai';
import type { UiPart } from '../../service/ai-sdk/parts';

/** AI SDK's client throws on unknown or misplaced parts. */
export async function pageOf(parts: readonly UiPart[], message?: UIMessage): Promise<UIMessage> {
  for (const part of parts) {
    const checked = await uiMessageChunkSchema().validate?.(part);
    if (checked?.success !== true) throw new Error(`No part of AI SDK 6: ${JSON.stringify(part)}`);
  }
  const stream = new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
  let last: UIMessage | undefined;
  const given = message === undefined ? {} : { message: structuredClone(message) };
  for await (const state of readUIMessageStream({ stream: stream as never, terminateOnError: true, ...given })) last = state;
  if (last === undefined) throw new Error('The stream shows nothing.');
  return last;
}

export const textsOf = ({ parts }: UIMessage): string => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('|');

// eslint-disable-next-line @typescript-eslint/no-explicit-any
export const toolsOf = ({ parts }: UIMessage): readonly any[] => parts.filter(({ type }) => type.startsWith('tool-'));

class PageState implements ChatState<UIMessage> {
  private waiting: (() => void)[] = [];
  private shownStatus: ChatStatus = 'ready';
  error: Error | undefined;

  constructor(private shown: UIMessage[]) {}

  get status(): ChatStatus {
    return this.shownStatus;
  }

  set status(status: ChatStatus) {
    this.shownStatus = status;
    this.changed();
  }

  get messages(): UIMessage[] {
    return this.shown;
  }

  set messages(messages: UIMessage[]) {
    this.shown = messages;
    this.changed();
  }

  pushMessage = (message: UIMessage): void => void (this.messages = [...this.shown, message]);
  popMessage = (): void => void (this.messages = this.shown.slice(0, -1));
  replaceMessage = (index: number, message: UIMessage): void =>
    void (this.messages = this.shown.map((one, place) => (place === index ? structuredClone(message) : one)));
  snapshot = <T>(thing: T): T => structuredClone(thing);

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  private changed(): void {
    const { waiting } = this;
    this.waiting = [];
    for (const go of waiting) go();
  }
}

export class PageChat extends AbstractChat<UIMessage> {
  private readonly page: PageState;

  constructor(
    api: string,
    {
      id,
      messages = [],
      posted = [],
      ask = fetch,
      headers = {},
      sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithApprovalResponses,
    }: Pick<ChatInit<UIMessage>, 'id' | 'messages' | 'sendAutomaticallyWhen'> & {
      readonly posted?: unknown[];
      readonly ask?: typeof fetch;
      readonly headers?: Readonly<Record<string, string>>;
    } = {},
  ) {
    const state = new PageState(structuredClone(messages));
    super({
      state,
      transport: new DefaultChatTransport({
        api,
        headers,
        fetch: (url, init) => {
          if (typeof init?.body === 'string') posted.push(JSON.parse(init.body));
          return ask(url, init);
        },
      }),
      sendAutomaticallyWhen,
      ...(id === undefined ? {} : { id }),
    });
    this.page = state;
  }

  until(holds: (chat: this) => boolean): Promise<void> {
    return this.page.until(() => holds(this));
  }

  get last(): UIMessage | undefined {
    return this.messages.at(-1);
  }

  get text(): string {
    return this.last?.role === 'assistant' ? textsOf(this.last) : '';
  }

  get asked(): { readonly approval: { readonly id: string } } | undefined {
    return this.last === undefined ? undefined : toolsOf(this.last).find(({ state }) => state === 'approval-requested');
  }
}
