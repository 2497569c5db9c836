import type { JSX } from 'preact';
import { hrefOf } from '../routes';
import { serviceTexts } from '../texts/service';

const tabs = ['agents', 'tools', 'policies', 'models', 'builds', 'usage'] as const;
export type ServiceTab = (typeof tabs)[number];

export function tabIn(query: URLSearchParams): ServiceTab {
  return tabs.find((name) => name === query.get('tab')) ?? 'agents';
}

/** Links: each part has a URL. */
export function Tabs({ shown }: { readonly shown: ServiceTab }): JSX.Element {
  return (
    <nav class="service-tabs" aria-label={serviceTexts.parts}>
      {tabs.map((name) => (
        <a key={name} href={hrefOf('service', undefined, { tab: name })} aria-current={name === shown ? 'true' : undefined}>
          {serviceTexts.tabs[name]}
        </a>
      ))}
    </nav>
  );
}
