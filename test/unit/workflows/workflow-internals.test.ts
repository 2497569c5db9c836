import type { WorkflowInfo } from '@temporalio/workflow';
import { Activator } from '@temporalio/workflow/lib/internals';
import { endsAsCancelled, payloadConverter, reportVersioning } from '../../../workflows/sdk-internals';

const scope = globalThis as { __TEMPORAL_ACTIVATOR__?: unknown };
afterEach(() => {
  delete scope.__TEMPORAL_ACTIVATOR__;
});

function activatorOfSdk(): Activator {
  const activator = new Activator({ info: {} as WorkflowInfo, randomnessSeed: [1] } as unknown as ConstructorParameters<
    typeof Activator
  >[0]);
  scope.__TEMPORAL_ACTIVATOR__ = activator;
  return activator;
}

// door.test.ts covers the SDK's conditions.
describe('the insides of this SDK', () => {
  it('have all that the code of runs knows of them', () => {
    const activator = activatorOfSdk() as unknown as Readonly<Record<string, unknown>>;
    expect(activator['blockedConditions']).toBeInstanceOf(Map);
    expect(activator).toMatchObject({ rethrowSynchronously: false, cancelled: false });
    expect(activator).toHaveProperty('versioningBehavior', undefined);
    expect(typeof (activator['payloadConverter'] as { fromPayload?: unknown }).fromPayload).toBe('function');
  });

  it('take what a run says of its end and of its build', () => {
    const activator = activatorOfSdk();
    endsAsCancelled();
    reportVersioning('AUTO_UPGRADE');
    expect(activator).toMatchObject({ cancelled: true, versioningBehavior: 'AUTO_UPGRADE' });
    expect(payloadConverter()).toBe(activator.payloadConverter);
  });
});
