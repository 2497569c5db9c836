import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Json } from '../../contract/messages/messages';
import type { ListedAgent } from '../../http/index';
import { useAgentList } from '../data/agents';
import { identity } from '../data/identity';
import { EmptyState } from '../parts/empty-state';
import { ErrorNote } from '../parts/error-note';
import { visibleText } from '../parts/plain-text';
import { goTo, route, setQuery } from '../routes';
import { texts } from '../texts';
import { runsTexts } from '../texts/runs';
import { tryTexts } from '../texts/try';
import { Chat } from './chat';
import { CodeBox } from './code-box';
import type { CodeRequest } from './code';
import { OptionsForm } from './options-form';
import type { StartDraft } from './request';
import { agentToTry, emptyDraft, messageOf, startOf } from './request';
import { StartForm } from './start-form';

/** Talks to any agent, or starts a run of it, and shows the same request for other programs. */
export function TryPage(): JSX.Element {
  const { agents, error } = useAgentList();
  const { id } = route.value;
  if (agents === undefined)
    return error === undefined ? (
      <p class="page muted">{texts.parts.loading}</p>
    ) : (
      <div class="page">
        <ErrorNote error={error} />
      </div>
    );
  const agent = agents.find(({ name }) => name === id) ?? (id === undefined ? agentToTry(agents) : undefined);
  if (agents.length === 0)
    return (
      <EmptyState title={tryTexts.noAgents}>
        <p>{tryTexts.noAgentsHint}</p>
      </EmptyState>
    );
  return (
    <div class="try">
      <div class="try-head">
        <h1 class="unseen">{texts.shell.try}</h1>
        <label class="filter">
          <span>{runsTexts.agent}</span>
          <select value={agent?.name ?? ''} onChange={({ currentTarget }) => goTo('try', currentTarget.value)}>
            {agent === undefined && <option value="">{visibleText(id ?? '')}</option>}
            {agents.map(({ name }) => (
              <option key={name} value={name}>
                {visibleText(name)}
              </option>
            ))}
          </select>
        </label>
        {agent !== undefined && <p class="muted try-description">{visibleText(agent.description)}</p>}
      </div>
      {agent === undefined ? <EmptyState title={tryTexts.unknown(visibleText(id ?? ''))} /> : <TryAgent key={agent.name} agent={agent} />}
    </div>
  );
}

function TryAgent({ agent }: { readonly agent: ListedAgent }): JSX.Element {
  const { query } = route.value;
  const isChat = !agent.takesJob && query.get('as') !== 'run';
  const [draft, setDraft] = useState<StartDraft>({ ...emptyDraft, by: identity.peek().name });
  const [message, setMessage] = useState('');
  const [input, setInput] = useState<Json | undefined>(agent.takesJob ? {} : '');
  const [fresh, setFresh] = useState(() => `try-${Math.random().toString(36).slice(2, 10)}`);
  const conversation = query.get('chat') ?? fresh;
  const sent = isChat ? messageOf(agent.name, message, draft) : startOf(agent.name, input, draft);
  const request: CodeRequest = isChat
    ? { kind: 'message', conversation, body: messageOf(agent.name, message, draft).request }
    : { kind: 'run', body: startOf(agent.name, input, draft).request };
  const anew = (): void => {
    setFresh(`try-${Math.random().toString(36).slice(2, 10)}`);
    setQuery({ chat: '' });
  };
  return (
    <div class="try-columns">
      <section class="try-main" aria-label={isChat ? tryTexts.conversation : tryTexts.run}>
        {!agent.takesJob && (
          <div class="chips" role="group" aria-label={tryTexts.how}>
            <button type="button" class="chip" aria-pressed={isChat} onClick={() => setQuery({ as: '' })}>
              {tryTexts.conversation}
            </button>
            <button type="button" class="chip" aria-pressed={!isChat} onClick={() => setQuery({ as: 'run' })}>
              {tryTexts.run}
            </button>
          </div>
        )}
        {isChat ? (
          <Chat
            key={conversation}
            id={conversation}
            isOld={query.has('chat')}
            message={message}
            onMessage={setMessage}
            request={messageOf(agent.name, message, draft)}
            onStarted={() => setQuery({ chat: conversation })}
            onAnew={anew}
          />
        ) : (
          <StartForm agent={agent} input={input} onInput={setInput} start={startOf(agent.name, input, draft)} />
        )}
      </section>
      <aside class="try-side" aria-label={tryTexts.side}>
        <CodeBox request={request} hasProblems={Object.keys(sent.problems).length > 0} />
        <OptionsForm draft={draft} onDraft={setDraft} problems={sent.problems} isChat={isChat} />
      </aside>
    </div>
  );
}
