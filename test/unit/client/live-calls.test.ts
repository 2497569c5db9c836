import { LiveCalls, push } from '../../../client/reading/live-calls';
import type { Delta, DeltaBody } from '../../../contract/deltas';
import type { RunEvent } from '../../../contract/events';
import type { Json, Part } from '../../../contract/messages/messages';

const path = ['agent'];

class Scene {
  readonly shown: string[] = [];
  readonly live = new LiveCalls((delta) => this.shown.push(line(delta)));
  private events = 0;

  model(address: string, turn = 1): number {
    const eventId = ++this.events;
    this.live.fact({ kind: 'model-scheduled', time: 0, eventId, activityId: address, input: { path, turn } });
    return eventId;
  }

  tool(address: string, callId: string, input: Json = {}): number {
    const eventId = ++this.events;
    this.live.fact({ kind: 'tool-scheduled', time: 0, eventId, activityId: address, input: { path, tool: 't', callId, input } });
    return eventId;
  }

  back(scheduledId: number, kind: 'activity-completed' | 'activity-closed' = 'activity-completed'): void {
    this.live.fact({ kind, time: 0, scheduledId, result: {} });
  }

  say(address: string, ...bodies: readonly (DeltaBody | string)[]): void {
    for (const body of bodies) {
      const whole: DeltaBody = typeof body === 'string' ? { type: 'text-delta', text: body } : body;
      this.live.take({ agent: 'agent', runPath: path, address, attempt: this.attempt, ...whole });
    }
  }

  attempt = 1;

  modelEnd(text: string, turn = 1): void {
    const message = { id: 'm', role: 'assistant', parts: [{ type: 'text', text }] } as const;
    this.live.message({ type: 'model-end', agent: 'agent', runPath: path, turn, message, model: 'x', offset: 0, time: 0 });
  }

  retry(turn = 1): void {
    const error = { code: 'model-response-rejected', message: 'no' };
    this.live.retry({ type: 'model-retry', agent: 'agent', runPath: path, turn, attempt: 0, error, offset: 0, time: 0 });
  }

  toolEnd(callId: string, part: Partial<Part>): void {
    const message = { id: 'm', role: 'tool', parts: [{ type: 'tool-result', callId, name: 't', output: '', ...part } as Part] } as const;
    this.live.message({ type: 'tool-end', agent: 'agent', runPath: path, tool: 't', callId, message, offset: 0, time: 0 });
  }
}

const line = (delta: Delta): string => [delta.address, delta.type, delta.attempt, ...('text' in delta ? [delta.text] : [])].join(' ');

const start = { type: 'attempt-start' } as const;
const lost = { type: 'attempt-void' } as const;
const output = (text: string): DeltaBody => ({ type: 'tool-output-delta', callId: 'c', tool: 't', text });

describe('the deltas of calls among the events of a history', () => {
  it('wait until the history shows their call', () => {
    const scene = new Scene();
    scene.say('m1', start, 'a');
    expect(scene.shown).toEqual([]);
    scene.model('m1');
    expect(scene.shown).toEqual(['m1 attempt-start 1', 'm1 text-delta 1 a']);
  });

  it('are waited for only at the end of a call that shows some', () => {
    const scene = new Scene();
    const [shown, silent, voided] = ['m1', 'm2', 'm3'].map((address, at) => scene.model(address, at + 1)) as [number, number, number];
    scene.say('m1', start, 'a');
    scene.say('m3', start, 'a', lost);
    const endOf = (scheduledId: number, kind: 'activity-completed' | 'activity-closed' = 'activity-completed') =>
      scene.live.endOf({ kind, time: 0, scheduledId, result: {} });
    expect([endOf(shown), endOf(silent), endOf(voided), endOf(shown, 'activity-closed')]).toEqual(['m1', undefined, undefined, undefined]);
  });

  it('are shown once when the bus tells an attempt again', () => {
    const scene = new Scene();
    scene.model('m1');
    scene.say('m1', start, start, 'a', lost, lost);
    expect(scene.shown).toEqual(['m1 attempt-start 1', 'm1 text-delta 1 a', 'm1 attempt-void 1']);
  });

  it('are shown only of attempts whose beginning was seen, and not of those that are void', () => {
    const scene = new Scene();
    scene.model('m1');
    scene.say('m1', 'middle');
    scene.attempt = 2;
    scene.say('m1', start, 'b');
    scene.attempt = 1;
    scene.say('m1', start, 'late');
    expect(scene.shown).toEqual(['m1 attempt-start 2', 'm1 text-delta 2 b']);
  });

  it('void the attempt before when it could not say so itself', () => {
    const scene = new Scene();
    scene.model('m1');
    scene.say('m1', start, 'a');
    scene.attempt = 2;
    scene.say('m1', start, 'b');
    expect(scene.shown.slice(2)).toEqual(['m1 attempt-void 1', 'm1 attempt-start 2', 'm1 text-delta 2 b']);
  });

  it('are void when the call is lost for good', () => {
    const scene = new Scene();
    const id = scene.model('m1');
    scene.say('m1', start, 'a');
    scene.back(id, 'activity-closed');
    expect(scene.shown.at(-1)).toBe('m1 attempt-void 1');
    scene.modelEnd('something else');
    expect(scene.shown).toHaveLength(3);
  });

  it('come no more when the call has come back', () => {
    const scene = new Scene();
    const id = scene.model('m1');
    scene.say('m1', start, 'a');
    scene.back(id);
    scene.say('m1', 'late');
    scene.modelEnd('a');
    scene.say('m1', start, 'later');
    expect(scene.shown).toEqual(['m1 attempt-start 1', 'm1 text-delta 1 a']);
  });

  it('announce a message that is not their sum', () => {
    const scene = new Scene();
    scene.back(scene.model('m1'));
    const id = scene.model('m2', 2);
    scene.say('m2', start, 'a', 'b');
    scene.back(id);
    scene.modelEnd('never seen', 1);
    scene.modelEnd('changed', 2);
    expect(scene.shown.at(-1)).toBe('m2 message-replaced 1');
  });

  it('are void when a layer asks again for the same message', () => {
    const scene = new Scene();
    scene.say('m1', start, 'bad');
    scene.back(scene.model('m1'));
    scene.model('m1.2');
    scene.say('m1.2', start, 'good');
    scene.modelEnd('good');
    expect(scene.shown.slice(2)).toEqual(['m1 attempt-void 1', 'm1.2 attempt-start 1', 'm1.2 text-delta 1 good']);
  });

  it('are void, once, when the history says that the model is asked again', () => {
    const scene = new Scene();
    scene.say('m1', start, 'bad');
    scene.back(scene.model('m1'));
    scene.retry(2);
    expect(scene.shown).toHaveLength(2);
    scene.retry();
    expect(scene.shown.at(-1)).toBe('m1 attempt-void 1');
    scene.model('m1.2');
    scene.say('m1', 'late');
    scene.say('m1.2', start, 'good');
    scene.modelEnd('good');
    expect(scene.shown.slice(2)).toEqual(['m1 attempt-void 1', 'm1.2 attempt-start 1', 'm1.2 text-delta 1 good']);
    expect(scene.live.open).toEqual([]);
  });

  it('are void when the run ends and no message came of them', () => {
    const scene = new Scene();
    scene.say('m1', start, 'bad');
    scene.back(scene.model('m1'));
    scene.live.ending();
    expect(scene.shown.at(-1)).toBe('m1 attempt-void 1');
  });

  it('belong to their own call when a provider gives one id twice', () => {
    const scene = new Scene();
    const [one, two] = [scene.tool('t.0', 'same'), scene.tool('t.1', 'same')];
    scene.say('t.0', start, output('zero'));
    scene.say('t.1', start, output('on'));
    scene.back(one);
    scene.toolEnd('same', { output: 'zero' });
    scene.say('t.1', output('e'));
    scene.back(two);
    scene.toolEnd('same', { output: 'one' });
    expect(scene.shown.filter((text) => text.includes('replaced'))).toEqual([]);
    expect(scene.shown.at(-1)).toBe('t.1 tool-output-delta 1 e');
  });

  it('count as the texts of a result with files', () => {
    const scene = new Scene();
    const id = scene.tool('t.0', 'c');
    scene.say('t.0', start, { type: 'tool-output-delta', callId: 'c', tool: 't', part: { type: 'text', text: 'see' } });
    scene.back(id);
    scene.toolEnd('c', { output: [{ type: 'text', text: 'see' }], multipart: true });
    expect(scene.shown).toHaveLength(2);
  });

  it('are told to a reader that comes now, from the beginning of what counts', () => {
    const scene = new Scene();
    scene.model('m1');
    scene.say('m1', start, 'a', lost);
    scene.attempt = 2;
    scene.say('m1', start, 'b', 'c');
    expect(scene.live.open.map(line)).toEqual(['m1 attempt-void 1', 'm1 attempt-start 2', 'm1 text-delta 2 bc']);
  });

  it('are forgotten at the end of the run', () => {
    const scene = new Scene();
    scene.model('m1');
    scene.say('m1', start, 'a');
    scene.live.fact({ kind: 'end', time: 0, status: 'cancelled' });
    expect(scene.live.open).toEqual([]);
  });
});

it('deltas that nobody has taken become one where they follow each other', () => {
  const place = { agent: 'agent', runPath: path, address: 'm1', attempt: 1, type: 'text-delta' } as const;
  const said = (text: string, extra: object = {}): Delta => ({ ...place, text, ...extra });
  const [thought, elsewhere] = [{ type: 'reasoning-delta' }, { address: 'm2' }];
  const list: (RunEvent | Delta)[] = [];
  for (const delta of [said('a'), said('b'), said('c', thought), said('d', elsewhere), said('e', elsewhere)]) push(list, delta);
  expect(list).toEqual([said('ab'), said('c', thought), said('de', elsewhere)]);
});
