import { useState } from 'preact/hooks';
import type { Json } from '../../contract/messages/messages';
import type { ListedAgent } from '../../client/http/index';
import { useAgents } from '../data/facts';
import { claimed } from '../data/identity';
import { EmptyState, NoPage } from '../parts/error-note';
import { Chips } from '../parts/button';
import { Select } from '../parts/fields';
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

export function TryPage() {
  const { value: agents, error } = useAgents();
  const { id } = route.value;
  if (agents === undefined) return <NoPage error={error} />;
  const agent = agents.find(({ name }) => name === id) ?? (id === undefined ? agentToTry(agents) : undefined);
  if (agents.length === 0) return <EmptyState title={tryTexts.noAgents} text={tryTexts.noAgentsHint} />;
  return (
    <div class="try full column">
      <div class="try-head flow wrap">
        <h1 class="unseen">{texts.shell.try}</h1>
        <label class="flow">
          <span class="strong">{runsTexts.agent}</span>
          <Select
            label={runsTexts.agent}
            value={agent?.name ?? id ?? ''}
            options={[...new Set([...agents.map(({ name }) => name), agent?.name ?? id ?? ''])].map((name) => [name, visibleText(name)])}
            onChoose={(name) => goTo('try', name)}
          />
        </label>
        {agent !== undefined && <p class="muted breaks">{visibleText(agent.description)}</p>}
      </div>
      {agent === undefined ? <EmptyState title={tryTexts.unknown(visibleText(id ?? ''))} /> : <TryAgent key={agent.name} agent={agent} />}
    </div>
  );
}

function TryAgent({ agent }: { readonly agent: ListedAgent }) {
  const { query } = route.value;
  const isChat = !agent.takesJob && query.get('as') !== 'run';
  const [draft, setDraft] = useState<StartDraft>({ ...emptyDraft, by: claimed.peek().by ?? '' });
  const [message, setMessage] = useState('');
  const [input, setInput] = useState<Json | undefined>(agent.takesJob ? {} : '');
  const [fresh, setFresh] = useState(freshId);
  const conversation = query.get('chat') ?? fresh;
  const said = messageOf(agent.name, message, draft);
  const start = startOf(agent.name, input, draft);
  const { problems } = isChat ? said : start;
  const request: CodeRequest = isChat ? { kind: 'message', conversation, body: said.request } : { kind: 'run', body: start.request };
  const anew = (): void => {
    setFresh(freshId());
    setQuery({ chat: '' });
  };
  return (
    <div class="try-columns grow">
      <section class="try-main stack" aria-label={isChat ? tryTexts.conversation : tryTexts.run}>
        {!agent.takesJob && (
          <Chips
            label={tryTexts.how}
            options={(['', 'run'] as const).map((name) => ({ name, shown: name === 'run' ? tryTexts.run : tryTexts.conversation }))}
            chosen={isChat ? '' : 'run'}
            onChoose={(as) => setQuery({ as })}
          />
        )}
        {isChat ? (
          <Chat
            key={conversation}
            id={conversation}
            isOld={query.has('chat')}
            message={message}
            onMessage={setMessage}
            said={said}
            onStarted={() => setQuery({ chat: conversation })}
            onAnew={anew}
          />
        ) : (
          <StartForm agent={agent} input={input} onInput={setInput} start={start} />
        )}
      </section>
      <aside class="try-side stack" aria-label={tryTexts.side}>
        <CodeBox request={request} hasProblems={Object.keys(problems).length > 0} />
        <OptionsForm draft={draft} onDraft={setDraft} problems={problems} isChat={isChat} />
      </aside>
    </div>
  );
}

function freshId(): string {
  return `try-${Math.random().toString(36).slice(2, 10)}`;
}
