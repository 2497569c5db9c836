import type { JSX } from 'preact';
import { askedAt } from '../../contract/who-may-answer';
import type { Asked } from '../../contract/who-may-answer';
import type { AskingPolicy, GivenDecision } from '../../contract/decisions';
import type { Interrupt } from '../../contract/interrupts';
import { now } from '../data/clock';
import { Fact } from '../parts/fact';
import { visibleText } from '../parts/plain-text';
import { Said } from '../parts/said';
import { Time } from '../parts/time';
import { decideTexts } from '../texts/decide';

export function Why({ interrupt }: { readonly interrupt: Interrupt }): JSX.Element {
  const policy = interrupt.kind === 'approval' ? interrupt.policy : undefined;
  const { deadline, notBy = [], steps = [] } = interrupt;
  return (
    <section class="why">
      <h3>{decideTexts.why}</h3>
      <dl class="facts">
        {interrupt.kind === 'approval' && <PolicyFacts policy={policy} />}
        <Fact name={decideTexts.who}>{peopleText(askedAt(interrupt, now.value))}</Fact>
        {notBy.length > 0 && <Fact name={decideTexts.notBy}>{notBy.map(visibleText).join(', ')}</Fact>}
        <Fact name={decideTexts.until}>{deadline === undefined ? decideTexts.noDeadline : <Time at={deadline} />}</Fact>
        {steps.length > 0 && (
          <Fact name={decideTexts.steps}>
            <ul>
              {steps.map((step, at) => (
                <li key={at}>
                  {step.type === 'remind' ? decideTexts.remind : decideTexts.escalate(peopleText(step))} <Time at={step.at} />
                </li>
              ))}
            </ul>
          </Fact>
        )}
        {policy !== undefined && policy.given.length > 0 && (
          <Fact name={decideTexts.given}>
            <ul>
              {policy.given.map((given, at) => (
                <li key={at}>
                  {givenText(given)}
                  {given.comment !== undefined && <Said text={given.comment} />}
                </li>
              ))}
            </ul>
          </Fact>
        )}
      </dl>
    </section>
  );
}

function PolicyFacts({ policy }: { readonly policy: AskingPolicy | undefined }): JSX.Element {
  if (policy === undefined) return <Fact name={decideTexts.policyLine}>{decideTexts.noPolicyLine}</Fact>;
  const { name, version, stage } = policy;
  return (
    <>
      <Fact name={decideTexts.policyLine}>
        <span title={version}>{visibleText(name)}</span>
      </Fact>
      <Fact name={decideTexts.stage}>
        {decideTexts.stageOf(stage.number, stage.of, stage.name === undefined ? undefined : visibleText(stage.name))}
      </Fact>
      <Fact name={decideTexts.needs}>{decideTexts.need(stage.need)}</Fact>
    </>
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
