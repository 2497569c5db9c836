import type { JSX } from 'preact';
import type { ServedAgent, ServedLimit, ServedModel, ServedTool } from '../../http/index';
import { usePolicies } from '../data/policies';
import { ErrorNote } from '../parts/error-note';
import { visibleText } from '../parts/plain-text';
import { Named } from '../parts/said';
import { Badge } from '../parts/status-badge';
import { Tag } from '../parts/tag';
import { hrefOf } from '../routes';
import { texts } from '../texts';
import { serviceTexts } from '../texts/service';
import { effectOf } from './effect';
import { Table } from './table';

const words = serviceTexts;

/** Names, each on its own: a long list wraps. */
function Names({ names }: { readonly names: readonly string[] }): JSX.Element {
  if (names.length === 0) return <span class="muted">–</span>;
  return (
    <span class="names">
      {names.map((name) => (
        <Tag key={name} text={name} />
      ))}
    </span>
  );
}

export function AgentTable({ agents }: { readonly agents: readonly ServedAgent[] }): JSX.Element {
  const rows = agents.map((agent) => ({
    key: agent.name,
    cells: [
      <>
        {agent.isExported ? (
          <a href={hrefOf('try', agent.name)}>
            <strong>
              <Named text={agent.name} />
            </strong>
          </a>
        ) : (
          <strong>
            <Named text={agent.name} />
          </strong>
        )}
        <small class="muted">{visibleText(agent.description)}</small>
        {!agent.isExported && <small class="muted">{words.inside}</small>}
      </>,
      words.agentKinds[agent.kind],
      agent.model === undefined ? <span class="muted">–</span> : <Named isMono text={agent.model} />,
      <Names names={agent.tools} />,
      <Names names={agent.agents} />,
      <Names names={[...agent.middleware, ...agent.policies.map((policy) => `${words.policy} ${policy}`)]} />,
      agent.maxIterations ?? '–',
      agent.isExported ? (
        <a href={hrefOf('runs', undefined, { agent: agent.name })} aria-label={words.runsOf(agent.name)}>
          {words.runs}
        </a>
      ) : (
        <span class="muted">–</span>
      ),
    ],
  }));
  const columns = [words.agent, words.kind, words.model, words.tools, words.agents, words.middleware].map((name) => ({ name }));
  return (
    <Table
      label={words.tabs.agents}
      columns={[...columns, { name: words.turns, isNumber: true }, { name: words.runs }]}
      rows={rows}
      empty={words.noAgents}
    />
  );
}

export function ToolTable({
  tools,
  agents,
}: {
  readonly tools: readonly ServedTool[];
  readonly agents: readonly ServedAgent[];
}): JSX.Element {
  const rows = tools.map((tool) => ({
    key: tool.name,
    cells: [
      <>
        <strong>
          <Named isMono text={tool.name} />
        </strong>
        <small class="muted">{visibleText(tool.description)}</small>
      </>,
      words.toolKinds[tool.kind],
      tool.kind === 'worker' ? (
        <span title={effectOf(tool).title}>
          <Badge kind={effectOf(tool).kind}>{effectOf(tool).text}</Badge>
        </span>
      ) : (
        <span class="muted">–</span>
      ),
      [
        tool.timeout,
        tool.concurrency === undefined ? undefined : words.atATime(tool.concurrency),
        tool.use === undefined ? undefined : words.inUse(tool.use.atWork, tool.use.waiting),
      ]
        .filter((text) => text !== undefined)
        .join(', ') || <span class="muted">{words.usual}</span>,
      <Names names={agents.filter((agent) => agent.tools.includes(tool.name)).map(({ name }) => name)} />,
    ],
  }));
  const columns = [words.tool, words.answeredBy, words.effect, words.limitsOf, words.usedBy].map((name) => ({ name }));
  return <Table label={words.tabs.tools} columns={columns} rows={rows} empty={words.noTools} />;
}

export function PolicyTable({ agents }: { readonly agents: readonly ServedAgent[] }): JSX.Element {
  const { value, error } = usePolicies();
  if (value.value === undefined)
    return error.value === undefined ? <p class="muted">{texts.parts.loading}</p> : <ErrorNote error={error.value} />;
  const rows = value.value.map(({ name, version, tools }) => ({
    key: name,
    cells: [
      <strong>
        <Named text={name} />
      </strong>,
      <Named isMono text={version} />,
      <Names names={tools} />,
      <Names names={agents.filter((agent) => agent.policies.includes(name)).map((agent) => agent.name)} />,
    ],
  }));
  const columns = [words.policyName, words.policyVersion, words.tools, words.usedBy].map((name) => ({ name }));
  return <Table label={words.tabs.policies} columns={columns} rows={rows} empty={words.noPolicies} />;
}

export function ModelTable({ models, hasWorker }: { readonly models: readonly ServedModel[]; readonly hasWorker: boolean }): JSX.Element {
  const rows = models.map(({ name, candidates, id }) => ({
    key: name,
    kind: hasWorker && id === undefined ? 'problem' : '',
    cells: [
      <strong>
        <Named isMono text={name} />
      </strong>,
      id === undefined ? <span class="muted">{hasWorker ? words.missing : words.onWorker}</span> : <Named isMono text={id} />,
      <Names names={candidates} />,
    ],
  }));
  const columns = [words.model, words.means, words.candidates].map((name) => ({ name }));
  return <Table label={words.tabs.models} columns={columns} rows={rows} empty={words.noModels} />;
}

interface LimitTableProps {
  readonly limits: readonly ServedLimit[];
  readonly hasWorker: boolean;
}

/** The limits of models, with what the calls of this process take of them. */
export function LimitTable({ limits, hasWorker }: LimitTableProps): JSX.Element {
  const rows = limits.map(({ models, concurrent, perMinute, tokensPerMinute, use }) => ({
    key: models,
    cells: [
      <Named isMono text={models} />,
      <Taken of={concurrent} now={use?.atWork} />,
      use === undefined ? '–' : whole.format(use.waiting),
      <Taken of={perMinute} now={use?.lastMinute} />,
      <Taken of={tokensPerMinute} now={use?.tokensLastMinute} />,
    ],
  }));
  return (
    <section aria-labelledby="limits">
      <h2 id="limits">{words.limits}</h2>
      <Table
        label={words.limits}
        columns={[
          { name: words.models },
          { name: words.concurrent, isNumber: true },
          { name: words.waiting, isNumber: true },
          { name: words.perMinute, isNumber: true },
          { name: words.tokensPerMinute, isNumber: true },
        ]}
        rows={rows}
        empty={words.noLimits}
      />
      {limits.length > 0 && <p class="muted">{hasWorker ? words.useOfOne : words.useUnknown}</p>}
    </section>
  );
}

const whole = new Intl.NumberFormat('en');

/** So many of so many. A limit that there is not is told, too. */
function Taken({ of, now }: { readonly of: number | undefined; readonly now: number | undefined }): JSX.Element {
  if (of === undefined) return <span class="muted">{words.unlimited}</span>;
  if (now === undefined) return <>{whole.format(of)}</>;
  const isFull = now >= of;
  return <span class={isFull ? 'taken warn' : 'taken'}>{words.ofLimit(whole.format(now), whole.format(of))}</span>;
}
