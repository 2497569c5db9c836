import type { HoldfastClient } from '../../client/index';
import type { DeliveryOutcome } from '../../contract/deliveries';
import { defined } from '../../contract/defined';
import { HoldfastError, codeOf, isFinal, messageOf } from '../../contract/errors';
import type { Failure, Json } from '../../contract/messages/messages';
import { notJson } from '../../contract/messages/messages';
import { isRunId } from '../../contract/names';
import { shown } from '../../contract/shown';
import { hashOf } from '../access/secrets';
import { checkStart } from '../http/asked-agent';
import { parse, parseJson } from '../http/parse-request';
import { StartBody } from '../http/schemas';
import type { AppParts } from '../parts';
import type { DeliveryDecision, LastEntry, ReceivedDelivery } from './delivery-log';
import { DeliveryLog, outcomeOf } from './delivery-log';
import type { TriggerOptions, TriggerStart } from './options';

const StartOfTrigger = StartBody.pick({ agent: true, input: true, id: true, tags: true, values: true, model: true, deadline: true });

export interface NamedTrigger {
  readonly name: string;
  readonly tenant: string;
  readonly options: TriggerOptions;
}

/**
 * Starts one run for each delivery of a trigger. Each decision is in the log before the next step, so a repeated delivery goes on where a
 * killed service stopped.
 */
export class Deliveries {
  readonly log: DeliveryLog;

  constructor(
    private readonly parts: Pick<AppParts, 'agents' | 'logger' | 'store'>,
    private readonly trigger: NamedTrigger,
    private readonly client: HoldfastClient,
  ) {
    this.log = new DeliveryLog(parts.store, trigger);
  }

  async take(delivery: ReceivedDelivery): Promise<DeliveryOutcome> {
    const known = await this.log.last(delivery.id);
    return this.settle(known ?? (await this.log.add(delivery.id, this.plan(delivery))), delivery);
  }

  /** Plans a delivery that has a problem anew, with the code of today. */
  async replay(id: string): Promise<DeliveryOutcome> {
    const { last, delivery } = await this.find(id);
    if (delivery === undefined) return outcomeOf(last.entry) ?? this.refuse(id);
    return this.settle('problem' in last.entry ? await this.log.add(id, this.plan(delivery), last) : last, delivery);
  }

  async drop(id: string): Promise<void> {
    const { last, delivery } = await this.find(id);
    if (delivery === undefined || outcomeOf(last.entry) !== undefined) return this.refuse(id);
    const { entry } = await this.log.add(id, { ignored: true }, last);
    if (!('ignored' in entry)) throw new HoldfastError('delivery-unknown', `The delivery ${shown(id)} was replayed meanwhile.`);
    await this.log.forget(last);
  }

  private async settle(first: LastEntry, delivery: ReceivedDelivery): Promise<DeliveryOutcome> {
    let last = first;
    while ('start' in last.entry) last = await this.log.add(delivery.id, await this.begin(delivery, last, last.entry.start), last);
    const outcome = outcomeOf(last.entry);
    await (outcome === undefined ? this.log.keep(last, delivery) : this.log.forget(last));
    return outcome ?? { kept: delivery.id };
  }

  private plan(delivery: ReceivedDelivery): DeliveryDecision {
    try {
      const start = this.startFor(delivery);
      if (start === undefined) return { ignored: true };
      checkStart(this.parts, start);
      return { start: { ...start, id: start.id ?? this.runIdOf(delivery.id) } };
    } catch (error) {
      return this.problemOf(delivery, error);
    }
  }

  private startFor({ id, headers, body }: ReceivedDelivery): TriggerStart | undefined {
    const { name, options } = this.trigger;
    try {
      const start = options.start({ payload: payloadOf(body), id, headers, trigger: name });
      if (start === undefined) return undefined;
      const problem = notJson(start);
      if (problem !== undefined) throw new Error(`it is not JSON: ${problem}`);
      return parse(StartOfTrigger, JSON.parse(JSON.stringify(start)), 'The start') as TriggerStart;
    } catch (error) {
      throw new HoldfastError('trigger-failed', `\`start\` of the trigger "${name}" made no run: ${messageOf(error)}`);
    }
  }

  private async begin(delivery: ReceivedDelivery, last: LastEntry, start: TriggerStart): Promise<DeliveryDecision> {
    const { name, tenant } = this.trigger;
    const { agent, input, ...options } = start;
    const who = `trigger:${name}`;
    const client = this.client.as({ tenant, user: who, proof: who, roles: [], may: new Set(['runs:start']) });
    try {
      return { run: (await client.start(agent, input as Json, defined(options))).id };
    } catch (error) {
      if (isFinal(error)) return this.problemOf(delivery, error);
      // GitHub repeats no delivery.
      await this.log.keep(last, delivery);
      throw error;
    }
  }

  private problemOf({ id }: ReceivedDelivery, error: unknown): DeliveryDecision {
    const code = codeOf(error);
    if (code === undefined) throw error;
    const problem: Failure = { code, message: messageOf(error) };
    this.parts.logger.warn(`A delivery of the trigger ${this.trigger.name} is kept`, { delivery: id, ...problem });
    return { problem };
  }

  /** Depends on the delivery alone, so that repeats start the same run. */
  private runIdOf(delivery: string): string {
    const id = `${this.trigger.name}:${delivery}`;
    return isRunId(id) ? id : `${this.trigger.name}:${hashOf(delivery)}`;
  }

  private async find(id: string): Promise<{ readonly last: LastEntry; readonly delivery: ReceivedDelivery | undefined }> {
    const last = (await this.log.last(id)) ?? this.refuse(id);
    return { last, delivery: await this.log.readKept(last) };
  }

  private refuse(id: string): never {
    throw new HoldfastError('delivery-unknown', `The trigger "${this.trigger.name}" keeps no delivery ${shown(id)}.`);
  }
}

export function payloadOf(body: string): Json {
  return body.trim() === '' ? {} : (parseJson(body, 'The body') as Json);
}
