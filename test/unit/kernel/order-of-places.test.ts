import { Commands } from '../../../kernel/log/commands';
import { orderOfPlaces } from '../../../kernel/log/order-of-places';
import type { RunLog } from '../../../kernel/log/run-log';

const nothing = { hasMemos: false, hasEvents: false, writeMemos: () => undefined, flush: () => undefined } as unknown as RunLog;

const sorted = (places: readonly string[], progress: Parameters<typeof orderOfPlaces>[0]['progress'] = {}): readonly string[] =>
  [...places].sort(orderOfPlaces({ progress }));

describe('the order in which commands are made that code asked for before it rested', () => {
  it('is that of the calls in their message, whatever their tools are called', () => {
    expect(sorted(['desk/t1/act.10', 'desk/t1/pay.2', 'desk/t1/ask.11'])).toEqual(['desk/t1/pay.2', 'desk/t1/act.10', 'desk/t1/ask.11']);
  });

  it('is that of the turns by number', () => {
    expect(sorted(['desk/t12/model', 'desk/t2/model'])).toEqual(['desk/t2/model', 'desk/t12/model']);
  });

  it('is that of parallel agents in their definition, also when they began after the order was made', () => {
    const state: Parameters<typeof orderOfPlaces>[0] = {};
    const order = orderOfPlaces(state);
    state.progress = { team: { at: 0, branches: ['writer', 'critic'] } };
    expect(['team/critic/t1/model', 'team/writer/t1/act.0'].sort(order)).toEqual(['team/writer/t1/act.0', 'team/critic/t1/model']);
  });

  it('has a place before all places inside of it', () => {
    expect(sorted(['desk/t1/pay.0', 'desk', ''])).toEqual(['', 'desk', 'desk/t1/pay.0']);
  });

  it('is the order of asking at one place', () => {
    const made: string[] = [];
    const commands = new Commands(nothing, orderOfPlaces({}), () => Promise.resolve());
    const ask = (place: string, name: string): void => void commands.ask(place, () => Promise.resolve(void made.push(name)));
    ask('b', 'b1');
    ask('a', 'a1');
    ask('a', 'a2');
    commands.makeAll();
    expect(made).toEqual(['a1', 'a2', 'b1']);
    expect(commands.isEmpty).toBe(true);
  });

  it('waits for the next task from the first command on that this task has no room for', async () => {
    const made: string[] = [];
    let isNextTask = false;
    const commands = new Commands(nothing, orderOfPlaces({}), () => Promise.resolve(void (isNextTask = true)));
    const ask = (place: string, hasRoom: () => boolean): Promise<void> =>
      commands.ask(place, () => (hasRoom() ? Promise.resolve(void made.push(place)) : undefined));
    const all = [ask('c', () => true), ask('b', () => isNextTask), ask('a', () => true)];
    commands.makeAll();
    expect(made).toEqual(['a']);
    await new Promise(setImmediate);
    commands.makeAll();
    await Promise.all(all);
    expect(made).toEqual(['a', 'b', 'c']);
  });

  it('gives whoever asked the error of a command that cannot be made, and makes the others', async () => {
    const commands = new Commands(nothing, orderOfPlaces({}), () => Promise.resolve());
    const refused = commands.ask('a', () => {
      throw new Error('It is too large.');
    });
    const made = commands.ask('b', () => Promise.resolve('made'));
    commands.makeAll();
    await expect(refused).rejects.toThrow('It is too large.');
    await expect(made).resolves.toBe('made');
  });
});
