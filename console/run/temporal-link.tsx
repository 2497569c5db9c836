import type { JSX } from 'preact';
import { workflowIdOf } from '../../contract/names';
import { useFacts } from '../data/facts';
import { OutsideLink } from '../parts/link';
import { runTexts } from '../texts/run';

/** A link to the run in Temporal's web UI, if the service knows the address. */
export function TemporalLink({ id }: { readonly id: string }): JSX.Element | null {
  const facts = useFacts().value;
  if (facts?.temporalUi === undefined) return null;
  const { temporalUi, namespace, tenant } = facts;
  const href = temporalUi
    .replaceAll('{namespace}', encodeURIComponent(namespace))
    .replaceAll('{workflowId}', encodeURIComponent(workflowIdOf(tenant, id)));
  return <OutsideLink href={href}>{runTexts.temporal}</OutsideLink>;
}
