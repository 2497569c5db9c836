import type { ServiceFacts } from '../../client/http/index';
import { useBuilds, usePolicies } from '../data/facts';
import { NoAnswer } from '../parts/error-note';
import { visibleText } from '../parts/plain-text';
import { Named, StrongName } from '../parts/said';
import { Badge, Tags } from '../parts/status-badge';
import { Table } from '../parts/table';
import { Time } from '../parts/time';
import { hrefOf } from '../routes';
import { serviceTexts } from '../texts/service';
import { effectOf } from './effect';

const words = serviceTexts;

const none = <span class="muted">–</span>;

function Names({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return none;
  return (
    <span class="names flow wrap">
      <Tags tags={names} />
    </span>
  );
}

export function AgentTable({ agents }: Pick<ServiceFacts, 'agents'>) {
  const rows = agents.map((agent) => ({
    key: agent.name,
    cells: [
      <>
        <strong>
          {agent.isExported ? (
            <a href={hrefOf('try', agent.name)}>
              <Named text={agent.name} />
            </a>
          ) : (
            <Named text={agent.name} />
          )}
        </strong>
        <small class="muted breaks">{visibleText(agent.description)}</small>
        {!agent.isExported && <small class="muted breaks">{words.inside}</small>}
      </>,
      words.agentKinds[agent.kind],
      agent.model === undefined ? none : <Named isMono text={agent.model} />,
      <Names names={agent.tools} />,
      <Names names={agent.agents} />,
      <Names names={[...agent.middleware, ...agent.policies.map((policy) => `${words.policy} ${policy}`)]} />,
      agent.maxIterations ?? '–',
      agent.isExported ? (
        <a href={hrefOf('runs', undefined, { agent: agent.name })} aria-label={words.runsOf(agent.name)}>
          {words.runs}
        </a>
      ) : (
        none
      ),
    ],
  }));
  const columns = [
    ...[words.agent, words.kind, words.model, words.tools, words.agents, words.middleware],
    { name: words.turns, isNumber: true },
    words.runs,
  ] as const;
  return <Table label={words.tabs.agents} columns={columns} rows={rows} empty={words.noAgents} />;
}

export function ToolTable({ tools, agents }: Pick<ServiceFacts, 'tools' | 'agents'>) {
  const rows = tools.map((tool) => ({
    key: tool.name,
    cells: [
      <>
        <StrongName isMono text={tool.name} />
        <small class="muted breaks">{visibleText(tool.description)}</small>
      </>,
      words.toolKinds[tool.kind],
      tool.kind === 'worker' || tool.effect !== undefined ? (
        <span title={effectOf(tool).title}>
          <Badge kind={effectOf(tool).kind}>{effectOf(tool).text}</Badge>
        </span>
      ) : (
        none
      ),
      [tool.timeout, tool.concurrency && words.atATime(tool.concurrency), tool.use && words.inUse(tool.use.atWork, tool.use.waiting)]
        .filter((text) => text !== undefined)
        .join(', ') || <span class="muted">{words.usual}</span>,
      <Names names={agents.filter((agent) => agent.tools.includes(tool.name)).map(({ name }) => name)} />,
    ],
  }));
  const columns = [words.tool, words.answeredBy, words.effect, words.limitsOf, words.usedBy];
  return <Table label={words.tabs.tools} columns={columns} rows={rows} empty={words.noTools} />;
}

export function PolicyTable({ agents }: Pick<ServiceFacts, 'agents'>) {
  const { value, error } = usePolicies();
  if (value === undefined) return <NoAnswer error={error} />;
  const rows = value.map(({ name, version, tools }) => ({
    key: name,
    cells: [
      <StrongName text={name} />,
      <Named isMono text={version} />,
      <Names names={tools} />,
      <Names names={agents.filter((agent) => agent.policies.includes(name)).map((agent) => agent.name)} />,
    ],
  }));
  const columns = [words.policyName, words.policyVersion, words.tools, words.usedBy];
  return <Table label={words.tabs.policies} columns={columns} rows={rows} empty={words.noPolicies} />;
}

const buildKinds = { newest: 'good', draining: 'info', drained: 'calm', unserved: 'bad' } as const;

export function BuildTable() {
  const { value, error } = useBuilds();
  if (value === undefined) return <NoAnswer error={error} />;
  const rows = value.builds.map(({ id, since, openRuns, polledAt, state }) => ({
    key: id,
    kind: state,
    cells: [
      <StrongName isMono text={id} />,
      <>
        <Badge kind={buildKinds[state]}>{words.buildStates[state]}</Badge>
        {state === 'unserved' && <small class="bad-text breaks">{words.unservedHint}</small>}
      </>,
      openRuns ?? '–',
      polledAt === undefined ? <span class="muted">{words.notSeen}</span> : <Time at={polledAt} />,
      since === undefined ? '–' : <Time at={since} />,
    ],
  }));
  return (
    <Table
      label={words.tabs.builds}
      columns={[words.build, words.state, { name: words.openRuns, isNumber: true }, words.lastWorker, words.firstSeen]}
      rows={rows}
      empty={words.noBuilds}
    />
  );
}

export function ModelTable({ models, hasWorker }: Pick<ServiceFacts, 'models' | 'hasWorker'>) {
  const rows = models.map(({ name, candidates, id }) => ({
    key: name,
    kind: hasWorker && id === undefined ? 'problem' : '',
    cells: [
      <StrongName isMono text={name} />,
      id === undefined ? <span class="muted">{hasWorker ? words.missing : words.onWorker}</span> : <Named isMono text={id} />,
      <Names names={candidates} />,
    ],
  }));
  const columns = [words.model, words.means, words.candidates];
  return <Table label={words.tabs.models} columns={columns} rows={rows} empty={words.noModels} />;
}

export function LimitTable({ limits, hasWorker }: Pick<ServiceFacts, 'limits' | 'hasWorker'>) {
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
  const numbers = [words.concurrent, words.waiting, words.perMinute, words.tokensPerMinute];
  return (
    <section aria-labelledby="limits">
      <h2 id="limits">{words.limits}</h2>
      <Table
        label={words.limits}
        columns={[words.models, ...numbers.map((name) => ({ name, isNumber: true }))]}
        rows={rows}
        empty={words.noLimits}
      />
      {limits.length > 0 && <p class="muted">{hasWorker ? words.useOfOne : words.useUnknown}</p>}
    </section>
  );
}

const whole = new Intl.NumberFormat('en');

function Taken({ of, now }: { readonly of: number | undefined; readonly now: number | undefined }) {
  if (of === undefined) return <span class="muted">{words.unlimited}</span>;
  if (now === undefined) return <>{whole.format(of)}</>;
  const isFull = now >= of;
  return <span class={isFull ? 'warn kind-text' : undefined}>{words.ofLimit(whole.format(now), whole.format(of))}</span>;
}
