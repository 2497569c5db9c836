import type { ServiceFacts } from '../../client/http/index';
import { useFacts } from '../data/facts';
import { caller, may } from '../data/identity';
import { NoPage } from '../parts/error-note';
import { Facts } from '../parts/json-view';
import { visibleText } from '../parts/plain-text';
import { hrefOf, route } from '../routes';
import { texts } from '../texts';
import { serviceTexts } from '../texts/service';
import { Keys } from './keys';
import { AgentTable, BuildTable, LimitTable, ModelTable, PolicyTable, ToolTable } from './tables';
import { Usage } from './usage';

const tabs = ['agents', 'tools', 'policies', 'models', 'builds', 'usage', 'keys'] as const;

export function ServicePage() {
  const { value: facts, error } = useFacts();
  const { query } = route.value;
  const shown = tabs.filter((name) => name !== 'keys' || (caller.value !== undefined && may('keys:manage')));
  const tab = shown.find((name) => name === query.get('tab')) ?? 'agents';
  if (facts === undefined) return <NoPage error={error} />;
  const { version, namespace, taskQueue, tenant, server, hasWorker, problems, temporalUi } = facts;
  const about = [
    [serviceTexts.version, `Holdfast ${version}`],
    [serviceTexts.server, `${server.address} (${serviceTexts.kinds[server.kind]})`],
    [serviceTexts.namespace, namespace],
    [serviceTexts.taskQueue, taskQueue],
    [serviceTexts.tenant, tenant],
    [serviceTexts.worker, hasWorker ? serviceTexts.workerHere : serviceTexts.workerElsewhere],
  ] as const;
  return (
    <div class="sheet stack">
      <h1>{texts.shell.service}</h1>
      <Facts class="service-about panel" facts={about} />
      {problems.length > 0 && <Problems problems={problems} />}
      <nav class="tabs" aria-label={serviceTexts.parts}>
        {shown.map((name) => (
          <a key={name} href={hrefOf('service', undefined, { tab: name })} aria-current={name === tab ? 'true' : undefined}>
            {serviceTexts.tabs[name]}
          </a>
        ))}
      </nav>
      {tab === 'agents' && <AgentTable agents={facts.agents} />}
      {tab === 'tools' && <ToolTable tools={facts.tools} agents={facts.agents} />}
      {tab === 'policies' && <PolicyTable agents={facts.agents} />}
      {tab === 'models' && (
        <>
          <ModelTable models={facts.models} hasWorker={hasWorker} />
          <LimitTable limits={facts.limits} hasWorker={hasWorker} />
        </>
      )}
      {tab === 'builds' && <BuildTable />}
      {tab === 'usage' && <Usage />}
      {tab === 'keys' && <Keys />}
      {temporalUi === undefined && tab === 'builds' && <p class="muted">{serviceTexts.noTemporalUi}</p>}
    </div>
  );
}

function Problems({ problems }: Pick<ServiceFacts, 'problems'>) {
  return (
    <section class="problems panel" aria-labelledby="problems">
      <h2 id="problems">{serviceTexts.problems}</h2>
      <ul>
        {problems.map(({ code, message, fix }) => (
          <li key={`${code} ${message}`} class="breaks">
            <p>
              <code>{code}</code> <bdi>{visibleText(message)}</bdi>
            </p>
            {fix !== undefined && (
              <p class="muted">
                {texts.parts.errorFix}: {fix}
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
