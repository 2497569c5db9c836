import type { Interrupt, Message } from '@ag-ui/client';
import { HttpAgent, buildResumeArray, runHttpRequest, transformHttpEventStream } from '@ag-ui/client';
import type { FormEvent, ReactNode } from 'react';
import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';

/** A reload with `?thread=` shows the thread again. */

const url = `${document.body.dataset['service'] ?? ''}/agui/support`;
const threadId = new URLSearchParams(location.search).get('thread') ?? crypto.randomUUID();
history.replaceState(null, '', `?thread=${encodeURIComponent(threadId)}`);

/** `connect` shows the thread and follows new events. */
class Thread extends HttpAgent {
  override connect(input: Parameters<HttpAgent['run']>[0]): ReturnType<HttpAgent['run']> {
    return transformHttpEventStream(runHttpRequest(() => fetch(`${this.url}/connect`, this.requestInit(input))));
  }
}

const agent = new Thread({ url, threadId });

function textOf({ content }: Message): string {
  return typeof content === 'string' ? content : '';
}

function Page(): ReactNode {
  const [text, setText] = useState('');
  const [messages, setMessages] = useState<readonly Message[]>([]);
  const [waiting, setWaiting] = useState<readonly Interrupt[]>([]);
  const [problem, setProblem] = useState<string>();

  const follow = async (run: () => Promise<unknown>): Promise<void> => {
    setWaiting([]);
    setProblem(undefined);
    await run().catch((error: unknown) => setProblem(String(error)));
    setWaiting([...agent.pendingInterrupts]);
  };
  useEffect(() => {
    const { unsubscribe } = agent.subscribe({
      onMessagesChanged: ({ messages: shown }) => setMessages([...shown]),
      onRunErrorEvent: ({ event }) => setProblem(event.message),
    });
    void follow(() => agent.connectAgent());
    return unsubscribe;
  }, []);
  const say = (event: FormEvent): void => {
    event.preventDefault();
    agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: text });
    setText('');
    void follow(() => agent.runAgent());
  };
  const decide = (approved: boolean): void => {
    const answers = Object.fromEntries(waiting.map(({ id }) => [id, { status: 'resolved' as const, payload: { approved } }]));
    void follow(() => agent.runAgent({ resume: buildResumeArray(agent.pendingInterrupts, answers) }));
  };
  return (
    <main>
      <h1>Support, with AG-UI</h1>
      <ol aria-live="polite">
        {messages.map((message) => (
          <li key={message.id} data-role={message.role}>
            {message.role === 'tool' ? <code>{textOf(message)}</code> : <p>{textOf(message)}</p>}
          </li>
        ))}
      </ol>
      {waiting.map(({ id, message }) => (
        <div key={id} className="call">
          <span>{message}</span>
          <button onClick={() => decide(true)}>Approve</button>
          <button onClick={() => decide(false)}>Reject</button>
        </div>
      ))}
      {problem !== undefined && <p role="alert">{problem}</p>}
      <form onSubmit={say}>
        <input aria-label="Message" value={text} onChange={({ target }) => setText(target.value)} />
        <button disabled={text === ''}>Send</button>
      </form>
    </main>
  );
}

createRoot(document.getElementById('page') as HTMLElement).render(<Page />);
