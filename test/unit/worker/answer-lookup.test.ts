import { defaultPayloadConverter } from '@temporalio/common';
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow';
import type { Interrupt } from '../../../contract/interrupts';
import { names } from '../../../contract/names';
import type { FactEvent } from '../../../host/history/history-facts';
import { answerLookup } from '../../../worker/answer-lookup';

const interrupt: Interrupt = { id: 'q', address: ['a'], agent: 'a', kind: 'question', info: '?', deadline: 5000 };

const accepted = (id: string, answer: string): FactEvent => ({
  eventTime: { seconds: 6 },
  workflowExecutionUpdateAcceptedEventAttributes: {
    protocolInstanceId: id,
    acceptedRequest: {
      input: { name: names.answerUpdate, args: { payloads: [defaultPayloadConverter.toPayload({ interruptId: 'q', answer })] } },
    },
  },
});
const completed = (updateId: string, failed: boolean): FactEvent => ({
  workflowExecutionUpdateCompletedEventAttributes: {
    meta: { updateId },
    outcome: failed ? { failure: { message: 'no' } } : { success: { payloads: [] } },
  },
});

const kept: FactEvent = {
  activityTaskScheduledEventAttributes: {
    activityType: { name: names.keepActivity },
    input: { payloads: [defaultPayloadConverter.toPayload({ runId: 'r', point: {} })] },
  },
};

it('the point of a cancelled run is found, however many signals came after the point', async () => {
  const signals = Array.from({ length: 300 }, (): FactEvent => ({ workflowExecutionSignaledEventAttributes: { signalName: 'any' } }));
  const pages = [
    [{ workflowExecutionCanceledEventAttributes: {} }, ...signals.slice(0, 255)],
    [...signals.slice(255), kept],
  ];
  const page = async ({ nextPageToken }: { readonly nextPageToken?: Uint8Array }): Promise<object> => {
    const position = nextPageToken?.[0] ?? 0;
    return { history: { events: pages[position] }, nextPageToken: position + 1 < pages.length ? Uint8Array.of(position + 1) : null };
  };
  const source = { workflowService: { getWorkflowExecutionHistory: page, getWorkflowExecutionHistoryReverse: page }, namespace: 'default' };
  expect(await answerLookup(source, () => loadDataConverter()).pointOf('default/r')).toEqual({ runId: 'r', point: {} });
});

async function found(...events: readonly FactEvent[]): Promise<unknown> {
  const page = async (): Promise<object> => ({ history: { events: [...events].reverse() } });
  const source = { workflowService: { getWorkflowExecutionHistory: page, getWorkflowExecutionHistoryReverse: page }, namespace: 'default' };
  const [answer] = await answerLookup(source, () => loadDataConverter()).to({ workflowId: 'default/r', interrupts: [interrupt] });
  return answer?.answer;
}

describe('an answer that an isolated agent looks for at its deadline', () => {
  it('is an update that the run took, or has yet to answer', async () => {
    expect(await found(accepted('one', 'yes'), completed('one', false))).toBe('yes');
    expect(await found(accepted('one', 'yes'))).toBe('yes');
  });

  it('is no update that the run refused', async () => {
    expect(await found(accepted('late', 'too late'), completed('late', true))).toBeUndefined();
    expect(await found(accepted('late', 'no'), completed('late', true), accepted('two', 'yes'), completed('two', false))).toBe('yes');
  });
});
