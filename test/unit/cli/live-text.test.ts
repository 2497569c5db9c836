import { EventLines } from '../../../cli/event-lines';
import type { Delta, DeltaBody } from '../../../contract/deltas';
import type { EventBody, RunEvent } from '../../../contract/events';
import { recordedTerminal } from '../../support/recorded-terminal';

const agent = { agent: 'support', runPath: ['support'] };
const address = 'support/t1/model';

const delta = (body: DeltaBody, attempt = 1, at = address): Delta => ({ ...agent, ...body, address: at, attempt });
const said = (text: string, attempt = 1, at = address): Delta => delta({ type: 'text-delta', text }, attempt, at);
const begin = (attempt = 1, at = address): Delta => delta({ type: 'attempt-start' }, attempt, at);
const event = (body: EventBody): RunEvent => ({ ...body, offset: 1, time: 0 });
const started = (at = address): RunEvent => event({ ...agent, type: 'model-start', turn: 1, address: at });
const words = (text: string) => ({ id: 'm', role: 'assistant', parts: [{ type: 'text', text }] }) as const;
const message = (text: string, at = address): RunEvent =>
  event({ ...agent, type: 'model-end', turn: 1, address: at, message: words(text), model: 'test/model' });
const note = event({ ...agent, type: 'custom', name: 'note', data: 1 });

function shown(...events: readonly (RunEvent | Delta)[]): string {
  const terminal = recordedTerminal({ live: true });
  const lines = new EventLines(terminal);
  for (const each of events) lines.show(each);
  return terminal.written();
}

const heard = (...events: readonly (RunEvent | Delta)[]): string => shown(started(), begin(), ...events);

describe('an answer on a terminal', () => {
  it('is written as it comes, and once', () => {
    expect(heard(said('Paid '))).toBe('Paid');
    expect(heard(said('Paid '), said('in full.'))).toBe('Paid in full.');
    expect(heard(said('Paid '), said('in full.'), message('Paid in full.'))).toBe('Paid in full.\n');
  });

  it('is the same whether it came in pieces or whole', () => {
    const text = '\n First line\n\n  second line \n\n';
    expect(heard(...[...text].map((letter) => said(letter)), message(text))).toBe(shown(message(text)));
  });

  it('hides nothing that would steer the terminal', () => {
    expect(shown(said('a\u001b[2Jb'))).toBe('a\\u001b[2Jb');
  });

  it('says when what stands there does not count', () => {
    const voided = [said('Wro'), delta({ type: 'attempt-void' }), begin(2), said('Right.', 2), message('Right.')];
    expect(heard(...voided)).toBe('Wro\n! what was said above does not count\nRight.\n');
  });

  it('says nothing of an attempt that was void before it said anything', () => {
    expect(heard(said(' '), delta({ type: 'attempt-void' }), begin(2), said('Right.', 2), message('Right.'))).toBe('Right.\n');
  });

  it('tells why the model is asked again', () => {
    const error = { code: 'model-failed', message: 'The line is dead.' };
    const retry = event({ ...agent, type: 'model-retry', turn: 1, attempt: 0, error });
    expect(heard(said('Wro'), delta({ type: 'attempt-void' }), retry, started('other'), said('Right.', 1, 'other'))).toBe(
      'Wro\n! what was said above does not count\n! the model is asked again: The line is dead.\nRight.',
    );
  });

  it('is shown again when a layer changed it', () => {
    expect(heard(said('Secret.'), delta({ type: 'message-replaced' }), message('[hidden]'))).toBe(
      'Secret.\n! what was said above was changed\n[hidden]\n',
    );
  });

  it('ends with what the service did not tell any more', () => {
    expect(heard(said('Paid'), message('Paid in full.'))).toBe('Paid in full.\n');
    expect(heard(said('Paid'), message('Nothing.'))).toBe('Paid\n! what was said above was changed\nNothing.\n');
  });

  it('goes on where it stood when the service tells the attempt once more', () => {
    expect(heard(said('Paid in'), begin(), said('Pa'), said('id in full'), said('.'), message('Paid in full.'))).toBe('Paid in full.\n');
  });

  it.each([
    ['attempt', [begin(2), said('Right.', 2)]],
    ['call', [started('other'), said('Right.', 1, 'other')]],
  ])('is void when the service was gone, and another %s is there after it', (_, later) => {
    expect(heard(said('Wro'), ...later)).toBe('Wro\n! what was said above does not count\nRight.');
  });

  it('is void when the run ends without it', () => {
    const end = event({ type: 'run-end', status: 'failed', error: { code: 'model-failed', message: 'gone' } });
    expect(heard(said('Half'), end)).toBe('Half\n! what was said above does not count\n');
  });

  it('lets other lines stand between its own', () => {
    expect(heard(said('Paid '), note, said('in full.'), message('Paid in full.'))).toBe('Paid\n· note 1\nin full.\n');
  });

  it('has the line alone: another one beside it is shown when it is whole', () => {
    const other = { ...agent, runPath: ['support', 'helper'] };
    const beside = [begin(1, 'other'), said('Help', 1, 'other'), message('Help.', 'other')].map((one) => ({ ...one, ...other }));
    expect(heard(said('Paid '), ...beside, said('in full.'), message('Paid in full.'))).toBe('Paid\n[helper] Help.\nin full.\n');
  });

  it('says at its beginning which agent speaks', () => {
    const helper = { ...said('Help'), runPath: ['support', 'helper'] };
    expect(shown(helper)).toBe('[helper] Help');
  });
});

describe('agents on a terminal', () => {
  const inner = { agent: 'writer', runPath: ['support', 'writer'] };

  it('are named where they are not the first, say what they say, and how they failed', () => {
    const text = event({ ...inner, type: 'agent-message', message: words('Roses.') });
    const empty = event({ ...inner, type: 'agent-message', message: { id: 'n', role: 'assistant', parts: [] } });
    const failed = event({ ...inner, type: 'agent-end', error: { code: 'agent-failed', message: 'No ink.' } });
    expect(shown(event({ ...inner, type: 'agent-start' }), text, empty, failed, event({ ...inner, type: 'agent-end' }))).toBe(
      '[writer] Roses.\n✗ [writer] No ink.\n',
    );
  });

  it('may leave calls to whoever started the run', () => {
    const pendingToolCalls = [{ id: 'c1', name: 'pickColor', input: { of: 'car' } }];
    const end = event({ type: 'run-end', status: 'completed', output: '', text: '', pendingToolCalls });
    expect(shown(end)).toContain('pickColor {"of":"car"} (c1) is yours to make: no worker runs it');
  });
});
