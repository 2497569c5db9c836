import type { JSX } from 'preact';
import { askedAt } from '../../contract/who-may-answer';
import type { Asked } from '../../contract/who-may-answer';
import type { AskingPolicy, GivenDecision } from '../../contract/decisions';
import type { Interrupt } from '../../contract/interrupts';
import { now } from '../data/clock';
import { Facts } from '../parts/json-view';
import { visibleText } from '../parts/plain-text';
import { Said } from '../parts/said';
import { Time } from '../parts/time';
import { decideTexts } from '../texts/decide';

export function Why({ interrupt }: { readonly interrupt: Interrupt }) {
  const { deadline, notBy = [], steps = [] } = interrupt;
  const policy = interrupt.kind === 'approval' ? interrupt.policy : undefined;
  const given = policy?.given ?? [];
  return (
    <section class="why">
      <h3>{decideTexts.why}</h3>
      <Facts
        facts={[
          ...(interrupt.kind === 'approval' ? policyFacts(policy) : []),
          [decideTexts.who, peopleText(askedAt(interrupt, now.value))],
          [decideTexts.notBy, notBy.join(', ')],
          [decideTexts.until, deadline === undefined ? decideTexts.noDeadline : <Time at={deadline} />],
          [decideTexts.steps, steps.length > 0 && <Steps steps={steps} />],
          [decideTexts.given, given.length > 0 && <Given all={given} />],
        ]}
      />
    </section>
  );
}

function policyFacts(policy: AskingPolicy | undefined): readonly (readonly [string, JSX.Element | string])[] {
  if (policy === undefined) return [[decideTexts.policyLine, decideTexts.noPolicyLine]];
  const { name, version, stage } = policy;
  return [
    [decideTexts.policyLine, <span title={version}>{visibleText(name)}</span>],
    [decideTexts.stage, decideTexts.stageOf(stage.number, stage.of, stage.name)],
    [decideTexts.needs, decideTexts.need(stage.need)],
  ];
}

function Steps({ steps }: { readonly steps: NonNullable<Interrupt['steps']> }) {
  return (
    <ul>
      {steps.map((step, at) => (
        <li key={at}>
          {step.type === 'remind' ? decideTexts.remind : decideTexts.escalate(peopleText(step))} <Time at={step.at} />
        </li>
      ))}
    </ul>
  );
}

function Given({ all }: { readonly all: readonly GivenDecision[] }) {
  return (
    <ul>
      {all.map((given, at) => (
        <li key={at}>
          {givenText(given)}
          {given.comment !== undefined && <Said text={given.comment} />}
        </li>
      ))}
    </ul>
  );
}

function peopleText({ by = [], roles = [] }: Asked): string {
  const all = [...by.map(visibleText), ...roles.map((role) => decideTexts.role(visibleText(role)))];
  return all.length === 0 ? decideTexts.anybody : all.join(', ');
}

function givenText({ type, by, to }: GivenDecision): string {
  if (type === 'expired') return decideTexts.givenLine.expired;
  const who = by === undefined ? decideTexts.somebody : visibleText(by);
  return `${who} ${decideTexts.givenLine[type]}${to === undefined ? '' : ` ${visibleText(to)}`}`;
}
