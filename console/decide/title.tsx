import type { JSX } from 'preact';
import type { Interrupt } from '../../contract/interrupts';
import { visibleText } from '../parts/plain-text';
import { Badge } from '../parts/status-badge';
import { decideTexts } from '../texts/decide';
import { titleOf } from './row';

/** The subject of an interrupt in one line. The question of a model stands in quotes. */
export function AskingTitle({ interrupt }: { readonly interrupt: Interrupt }): JSX.Element {
  const { kind, agent } = interrupt;
  const title = visibleText(titleOf(interrupt).slice(0, 200));
  if (kind === 'approval') return <bdi class="row-title">{title}</bdi>;
  return (
    <span class="row-title">
      <Badge kind={kind === 'in-doubt' ? 'bad' : 'info'}>{decideTexts.kinds[kind]}</Badge>{' '}
      {kind === 'in-doubt' ? <bdi>{title}</bdi> : <q title={decideTexts.saidBy(visibleText(agent))}>{title}</q>}
    </span>
  );
}
