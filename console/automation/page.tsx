import { ErrorFix } from '../parts/error-note';
import { hrefOf, route } from '../routes';
import { texts } from '../texts';
import { automationTexts } from '../texts/automation';
import { Batches, Notices, Schedules, Triggers } from './tables';

const tabs = ['schedules', 'triggers', 'batches', 'notices'] as const;
const parts = { schedules: Schedules, triggers: Triggers, batches: Batches, notices: Notices };

/** Rows with errors do not grow for the advice. */
export const automationPage = ErrorFix.ask().then(() => AutomationPage);

function AutomationPage() {
  const tab = tabs.find((name) => name === route.value.query.get('tab')) ?? 'schedules';
  const Part = parts[tab];
  return (
    <div class="sheet stack">
      <h1>{texts.shell.automation}</h1>
      <nav class="tabs" aria-label={automationTexts.parts}>
        {tabs.map((name) => (
          <a key={name} href={hrefOf('automation', undefined, { tab: name })} aria-current={name === tab ? 'true' : undefined}>
            {automationTexts.tabs[name]}
          </a>
        ))}
      </nav>
      <Part />
    </div>
  );
}
