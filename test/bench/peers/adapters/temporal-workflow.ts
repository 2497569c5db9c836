import { condition, defineQuery, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';
import type { Said, ToolInput } from '../peer';

export interface HandActivities {
  model(task: string, done: number): Promise<Said>;
  words(): Promise<string>;
  pay(input: ToolInput): Promise<string>;
  refund(input: ToolInput): Promise<string>;
}

const short = proxyActivities<HandActivities>({ startToCloseTimeout: '1 minute' });
/** The heartbeat finds a lost call. */
const long = proxyActivities<HandActivities>({ startToCloseTimeout: '2 hours', heartbeatTimeout: '10 seconds' });

export const approve = defineSignal('approve');
export const isWaiting = defineQuery<boolean>('isWaiting');

/** The fake model needs no messages, so none are sent. */
export async function handRun(task: string): Promise<string> {
  const messages: object[] = [];
  let approved = false;
  let waiting = false;
  setHandler(approve, () => void (approved = true));
  setHandler(isWaiting, () => waiting);
  for (let done = 0; ; done++) {
    const { text, call } = await short.model(task, done);
    messages.push({ role: 'assistant', text, call });
    if (call === undefined) return text;
    if (call.name === 'refund') {
      waiting = true;
      await condition(() => approved);
      waiting = false;
    }
    const output = await callTool(call.name, call.input);
    messages.push({ role: 'tool', output });
  }
}

function callTool(name: string, input: ToolInput): Promise<string> {
  if (name === 'pay') return long.pay(input);
  return name === 'refund' ? short.refund(input) : short.words();
}
