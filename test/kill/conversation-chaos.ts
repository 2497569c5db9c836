import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { HoldfastClient } from '../../client/connect';
import type { Conversation, SendOptions } from '../../client/conversations/conversation';
import type { Run } from '../../client/runs/run';
import { codeOf } from '../../contract/errors';
import type { RunEvent } from '../../contract/events';
import type { Scenario } from './chaos-bed';
import type { PaymentServer } from './payment-server';

const patienceMs = 120_000;

/** Messages of two people for next turn, next step and now; a repeat, a change, a withdrawal, an approval and a pause. */
export function conversationScenario(payments: PaymentServer): Scenario {
  const receipts = new Map<string, readonly string[]>();
  return {
    program: 'conversation-process',
    agents: join('test', 'kill', 'talk-agents.ts'),
    agent: 'talks',
    input: '',
    placeOf: (_, queue) => `${payments.url}#${queue}`,
    effectsIn: (place) => {
      const run = place.split('#')[1] ?? '';
      const paid = payments.receipts.filter(({ key }) => key.startsWith(`${run}/`)).map(({ key, amount }) => `${key} ${amount}`);
      return [...paid, ...(receipts.get(run) ?? [])];
    },
    begin: async (clients, id) => {
      const talk = new Talk(clients, id);
      const first = await talk.ann.say('Pay 10.', 'a1');
      return {
        ended: talk.play(first).then((given) => {
          receipts.set(id, given);
        }),
      };
    },
  };
}

class Talk {
  readonly ann: Person;
  private readonly ben: Person;
  private readonly run: Run;
  private readonly log: RunEvent[] = [];

  constructor([one, two]: readonly [HoldfastClient, HoldfastClient], id: string) {
    this.ann = new Person('ann', one.conversation('talks', id, { idle: '1h' }));
    this.ben = new Person('ben', two.conversation('talks', id));
    this.run = one.run(id);
  }

  async play(first: string): Promise<readonly string[]> {
    const { ann, ben } = this;
    const receipts = [first];
    await this.turnEnd(1);
    receipts.push(...(await Promise.all([ben.say('Pay 20.', 'b1'), ann.say('Pay 20.', 'b1', { by: 'ben' })])));
    await this.turnEnd(2);
    receipts.push(await ann.say('Think.', 'a2'));
    await this.seen((event) => event.type === 'model-start' && this.turn === 3);
    receipts.push(await ben.say('Stop!', 'b2', { mode: 'now' }));
    await this.turnEnd(4);
    receipts.push(await ann.say('Pay 80.', 'a3'));
    const asked = await this.seen((event) => event.type === 'interrupt-start');
    const joined = ann.say('Quickly, please.', 'a4', { mode: 'next-step' });
    joined.catch(() => undefined);
    await this.seen((event) => event.type === 'message-queued' && event.id === 'a4');
    receipts.push(await ben.say('Pay 30.', 'b3'), await ben.say('Pay 40.', 'b4'));
    await ben.does((chat) => chat.change('b3', 'Pay 35.', { by: 'ben' }));
    await ben.does((chat) => chat.withdraw('b4', { by: 'ben' }));
    await ann.does((chat) => chat.pause({ by: 'ann' }));
    await ann.does((chat) => chat.rename('Payments', { by: 'ann' }));
    if (asked.type === 'interrupt-start') await this.run.approve(asked.interrupt.id, { by: 'cleo' });
    receipts.push(await joined);
    await this.turnEnd(5);
    await ben.does((chat) => chat.unpause({ by: 'ben' }));
    await this.turnEnd(6);
    await ann.does((chat) => chat.end({ by: 'ann' }));
    await this.seen((event) => event.type === 'run-end');
    this.compare(receipts);
    return receipts;
  }

  private compare(receipts: readonly string[]): void {
    const taken = this.log.flatMap((event) => (event.type === 'message' ? [`${event.id} in turn ${event.turn}`] : []));
    if (new Set(taken).size !== taken.length) throw new Error(`A message was taken twice: ${taken.join(', ')}`);
    const untrue = receipts.filter((receipt) => !receipt.startsWith('b4 ') && !taken.includes(receipt));
    if (untrue.length > 0) throw new Error(`Receipts that are not true: ${untrue.join(', ')}. Taken: ${taken.join(', ')}`);
  }

  private get turn(): number {
    return this.log.reduce((last, event) => (event.type === 'turn-start' ? event.turn : last), 0);
  }

  private turnEnd(turn: number): Promise<RunEvent> {
    return this.seen((event) => event.type === 'turn-end' && event.turn === turn);
  }

  private async seen(isIt: (event: RunEvent) => boolean): Promise<RunEvent> {
    const options = { from: this.log.length, deltas: false, signal: AbortSignal.timeout(patienceMs) } as const;
    for await (const event of this.run.events(options)) {
      this.log.push(event);
      if (isIt(event)) return event;
    }
    throw new Error(`Nobody saw what was waited for after ${JSON.stringify(this.log.slice(-8))}.`);
  }
}

class Person {
  constructor(
    private readonly name: string,
    private readonly chat: Conversation,
  ) {}

  /** Repeats the message under the same id until the receipt names the turn. */
  async say(text: string, id: string, options: SendOptions = {}): Promise<string> {
    for (;;) {
      const { turn } = await this.chat.send(text, { id, by: this.name, ...options });
      if (turn !== undefined) return `${id} in turn ${turn}`;
      await setTimeout(50);
    }
  }

  /** Repeats the request until a worker took the message; only the answer may have timed out. */
  async does(act: (chat: Conversation) => Promise<void>): Promise<void> {
    let isAgain = false;
    for (;;) {
      try {
        return await act(this.chat);
      } catch (error) {
        if (isAgain && codeOf(error) === 'message-unknown') return;
        if (codeOf(error) !== 'worker-missing' && codeOf(error) !== 'run-stuck') throw error;
        isAgain = true;
      }
    }
  }
}
