import { createHash } from 'node:crypto';
import type { HoldfastClient } from '../../client/index';
import type { DeliveryOutcome, KeptDeliveries } from '../../contract/deliveries';
import { defined } from '../../contract/defined';
import { HoldfastError, codeOf, errorTable, messageOf } from '../../contract/errors';
import type { Failure, Json } from '../../contract/messages/messages';
import { notJson } from '../../contract/messages/messages';
import { isRunId } from '../../contract/names';
import { shown } from '../../contract/shown';
import { checkStart } from '../http/asked-agent';
import { parse, parseJson } from '../http/parse-request';
import { StartBody } from '../http/schemas';
import type { AppParts } from '../parts';
import type { DeliveryDecision, LastEntry, ReceivedDelivery } from './delivery-log';
import { DeliveryLog } from './delivery-log';
import type { TriggerOptions, TriggerStart } from './options';

const StartOfTrigger = StartBody.pick({ agent: true, input: true, id: true, tags: true, values: true, model: true, deadline: true });

export interface NamedTrigger {
  readonly name: string;
  readonly tenant: string;
  readonly options: TriggerOptions;
}

/**
 * Starts one run for each delivery of a trigger. Each decision is in the log before the next step, and each step can be repeated: a repeated
 * delivery goes on where a killed service stopped, and gets the same answer.
 */
export class Deliveries {
  private readonly log: DeliveryLog;

  constructor(
    private readonly parts: Pick<AppParts, 'agents' | 'logger' | 'store'>,
    private readonly trigger: NamedTrigger,
    private readonly client: HoldfastClient,
  ) {
    this.log = new DeliveryLog(parts.store, { tenant: trigger.tenant, trigger: trigger.name });
  }

  async take(delivery: ReceivedDelivery): Promise<DeliveryOutcome> {
    const known = await this.log.last(delivery.id);
    return this.settle(known ?? (await this.log.add(delivery.id, this.plan(delivery))), delivery);
  }

  listKept(limit: number): Promise<KeptDeliveries> {
    return this.log.listKept(limit);
  }

  /** Plans a kept delivery with the code of today. */
  async replay(id: string): Promise<DeliveryOutcome> {
    const last = await this.find(id);
    const outcome = finalOutcome(last) ?? (await this.planAnew(last, id));
    if (!('kept' in outcome)) await this.log.forget(last, id);
    return outcome;
  }

  private async planAnew(last: LastEntry, id: string): Promise<DeliveryOutcome> {
    const delivery = await this.log.readKept(last, id);
    if (delivery === undefined) throw this.unknown(id);
    return this.settle('start' in last.entry ? last : await this.log.add(id, this.plan(delivery), last), delivery);
  }

  /** A repeat of a dropped delivery is ignored. */
  async drop(id: string): Promise<void> {
    const last = await this.find(id);
    if (!('problem' in last.entry)) throw this.unknown(id);
    const { entry } = await this.log.add(id, { ignored: true }, last);
    if (!('ignored' in entry)) throw new HoldfastError('delivery-unknown', `The delivery ${shown(id)} was replayed meanwhile.`);
    await this.log.forget(last, id);
  }

  private async settle(last: LastEntry, delivery: ReceivedDelivery): Promise<DeliveryOutcome> {
    for (let now = last; ;) {
      const { entry } = now;
      const outcome = finalOutcome(now);
      if (outcome !== undefined) return outcome;
      if (!('start' in entry)) {
        await this.log.keep(now, delivery);
        return { kept: delivery.id };
      }
      now = await this.log.add(delivery.id, await this.begin(delivery.id, entry.start), now);
    }
  }

  private plan(delivery: ReceivedDelivery): DeliveryDecision {
    const { id, headers, body } = delivery;
    const { name, options } = this.trigger;
    try {
      const made = this.callStart(() => {
        const start = options.start({ payload: payloadOf(body), id, headers, trigger: name });
        if (start === undefined) return undefined;
        const problem = notJson(start);
        if (problem !== undefined) throw new Error(`it is not JSON: ${problem}`);
        return parse(StartOfTrigger, JSON.parse(JSON.stringify(start)), 'The start') as TriggerStart;
      });
      if (made === undefined) return { ignored: true };
      checkStart(this.parts, made);
      return { start: { ...made, id: made.id ?? this.runIdOf(id) } };
    } catch (error) {
      return this.problemOf(id, error);
    }
  }

  private callStart(start: () => TriggerStart | undefined): TriggerStart | undefined {
    try {
      return start();
    } catch (error) {
      throw new HoldfastError('trigger-failed', `\`start\` of the trigger "${this.trigger.name}" made no run: ${messageOf(error)}`);
    }
  }

  private async begin(delivery: string, { agent, input, ...options }: TriggerStart): Promise<DeliveryDecision> {
    const { name, tenant } = this.trigger;
    const who = `trigger:${name}`;
    const client = this.client.as({ tenant, user: who, proof: who, roles: [], may: new Set(['runs:start']) });
    try {
      return { run: (await client.start(agent, input as Json, defined(options))).id };
    } catch (error) {
      if (isTransient(error)) throw error;
      return this.problemOf(delivery, error);
    }
  }

  private problemOf(delivery: string, error: unknown): DeliveryDecision {
    const code = codeOf(error);
    if (code === undefined) throw error;
    const problem: Failure = { code, message: messageOf(error) };
    this.parts.logger.warn(`A delivery of the trigger ${this.trigger.name} is kept`, { delivery, ...problem });
    return { problem };
  }

  /** Depends on the delivery alone, so that repeats start the same run. */
  private runIdOf(delivery: string): string {
    const id = `${this.trigger.name}:${delivery}`;
    return isRunId(id) ? id : `${this.trigger.name}:${createHash('sha256').update(delivery).digest('hex')}`;
  }

  private async find(id: string): Promise<LastEntry> {
    const last = await this.log.last(id);
    if (last === undefined) throw this.unknown(id);
    return last;
  }

  private unknown(id: string): HoldfastError {
    return new HoldfastError('delivery-unknown', `The trigger "${this.trigger.name}" keeps no delivery ${shown(id)}.`);
  }
}

function finalOutcome({ entry }: LastEntry): DeliveryOutcome | undefined {
  if ('run' in entry) return { run: entry.run };
  return 'ignored' in entry ? { ignored: true } : undefined;
}

/** The sender repeats the delivery later. */
function isTransient(error: unknown): boolean {
  return errorTable[codeOf(error) ?? 'internal'].status >= 500;
}

export function payloadOf(body: string): Json {
  return body.trim() === '' ? {} : (parseJson(body, 'The body') as Json);
}
