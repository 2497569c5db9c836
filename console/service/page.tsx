import type { JSX } from 'preact';
import { useFacts } from '../data/facts';
import { ErrorNote } from '../parts/error-note';
import { visibleText } from '../parts/plain-text';
import { route } from '../routes';
import { texts } from '../texts';
import { serviceTexts } from '../texts/service';
import { AgentTable, LimitTable, ModelTable, PolicyTable, ToolTable } from './tables';
import { BuildTable } from './builds';
import { Usage } from './usage';
import { Tabs, tabIn } from './tabs';

/** What this service serves, what drains, what is missing, and who has used how much. */
export function ServicePage(): JSX.Element {
  const { value, error } = useFacts();
  const facts = value.value;
  const tab = tabIn(route.value.query);
  if (facts === undefined)
    return (
      <div class="page">{error.value === undefined ? <p class="muted">{texts.parts.loading}</p> : <ErrorNote error={error.value} />}</div>
    );
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
    <div class="service">
      <h1>{texts.shell.service}</h1>
      <dl class="service-about">
        {about.map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <bdi>{visibleText(text)}</bdi>
            </dd>
          </div>
        ))}
      </dl>
      {problems.length > 0 && (
        <section class="problems" aria-labelledby="problems">
          <h2 id="problems">{serviceTexts.problems}</h2>
          <ul>
            {problems.map(({ code, message, fix }) => (
              <li key={`${code} ${message}`}>
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
      )}
      <Tabs shown={tab} />
      {tab === 'agents' && <AgentTable agents={facts.agents} />}
      {tab === 'tools' && <ToolTable tools={facts.tools} agents={facts.agents} />}
      {tab === 'policies' && <PolicyTable agents={facts.agents} />}
      {tab === 'models' && (
        <>
          <ModelTable models={facts.models} hasWorker={hasWorker} />
          <LimitTable limits={facts.limits} hasWorker={facts.hasWorker} />
        </>
      )}
      {tab === 'builds' && <BuildTable />}
      {tab === 'usage' && <Usage />}
      {temporalUi === undefined && tab === 'builds' && <p class="muted hint">{serviceTexts.noTemporalUi}</p>}
    </div>
  );
}
