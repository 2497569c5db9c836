import { useChat } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import { DefaultChatTransport, getToolName, isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';
import { ServiceClient } from 'holdfast/http';
import type { FormEvent, ReactNode } from 'react';
import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';

/** A reload with `?chat=` shows the chat again. */

const service = document.body.dataset['service'] ?? '';
const id = new URLSearchParams(location.search).get('chat') ?? crypto.randomUUID();
history.replaceState(null, '', `?chat=${encodeURIComponent(id)}`);

/** Messages before the turn at work, which comes with `resume`. */
async function earlier(): Promise<UIMessage[]> {
  try {
    const { messages } = await new ServiceClient(service).messages(id, { limit: 100 });
    const { turn, status } = await new ServiceClient(service).conversation(id);
    return messages.flatMap(({ message, turn: of }): UIMessage[] => {
      const text = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
      const isOver = message.role === 'user' || of < turn || status !== 'working';
      if (text === '' || !isOver || (message.role !== 'user' && message.role !== 'assistant')) return [];
      return [{ id: message.id, role: message.role, parts: [{ type: 'text', text }] }];
    });
  } catch {
    return [];
  }
}

function Chat({ before }: { readonly before: UIMessage[] }): ReactNode {
  const [text, setText] = useState('');
  const { messages, sendMessage, addToolApprovalResponse, status, error } = useChat({
    id,
    messages: before,
    resume: true,
    transport: new DefaultChatTransport({ api: `${service}/aisdk/support` }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const say = (event: FormEvent): void => {
    event.preventDefault();
    void sendMessage({ text });
    setText('');
  };
  return (
    <main>
      <h1>Support, with AI SDK</h1>
      <ol aria-live="polite">
        {messages.map((message) => (
          <li key={message.id} data-role={message.role}>
            {message.parts.map((part, place) => {
              if (part.type === 'text') return <p key={place}>{part.text}</p>;
              if (!isToolUIPart(part)) return null;
              const { approval } = part;
              return (
                <div key={place} className="call">
                  <code>
                    {getToolName(part)} {JSON.stringify(part.input)}
                  </code>
                  {part.state === 'approval-requested' && approval !== undefined ? (
                    <span>
                      <button onClick={() => void addToolApprovalResponse({ id: approval.id, approved: true })}>Approve</button>
                      <button onClick={() => void addToolApprovalResponse({ id: approval.id, approved: false })}>Reject</button>
                    </span>
                  ) : (
                    <span>{part.state}</span>
                  )}
                </div>
              );
            })}
          </li>
        ))}
      </ol>
      {error !== undefined && <p role="alert">{error.message}</p>}
      <form onSubmit={say}>
        <input aria-label="Message" value={text} onChange={({ target }) => setText(target.value)} />
        <button disabled={text === ''}>Send</button>
        <output>{status}</output>
      </form>
    </main>
  );
}

function Page(): ReactNode {
  const [before, setBefore] = useState<UIMessage[]>();
  useEffect(() => void earlier().then(setBefore), []);
  return before === undefined ? null : <Chat before={before} />;
}

createRoot(document.getElementById('page') as HTMLElement).render(<Page />);
