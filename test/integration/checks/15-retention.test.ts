import { msToTs } from '@temporalio/common/lib/time';
import type { HoldfastError } from '../../../contract/errors';
import type { TemporalConnection } from '../../../host/connection';
import { connectTemporal } from '../../../host/connection';
import { setUpNamespace } from '../../../host/server/namespace-setup';
import { startTestBed, testServer, text } from '../../support/test-bed';

const namespace = `retention-${process.pid}`;
const { address } = testServer();

/** What a worker says at its start in a namespace that keeps runs for so many hours. */
async function problemsWith({ connection }: TemporalConnection, hours: number): Promise<readonly HoldfastError[]> {
  await connection.workflowService.updateNamespace({ namespace, config: { workflowExecutionRetentionTtl: msToTs(hours * 3_600_000) } });
  const problems: HoldfastError[] = [];
  const bed = await startTestBed(() => text('Done.'), {
    server: { address, namespace },
    onProblem: (problem) => problems.push(problem),
  });
  await bed.worker.checkBuilds();
  await bed.close();
  return problems;
}

describe('[check 15] a namespace that keeps runs for a short time', () => {
  let connection: TemporalConnection;
  beforeAll(async () => {
    connection = await connectTemporal({ address, namespace });
    await setUpNamespace(connection.connection, namespace);
  });
  afterAll(() => connection.close());

  it('is told once at the start of a worker, with the command that changes it', async () => {
    const command = `temporal operator namespace update --address ${address} --namespace ${namespace} --retention 30d`;
    expect(await problemsWith(connection, 24)).toMatchObject([
      { code: 'retention-short', message: expect.stringMatching(/for 1 day\. .*--retention 30d$/), details: { command } },
    ]);
    expect(await problemsWith(connection, 36)).toMatchObject([{ message: expect.stringContaining('for 36 hours.') }]);
  });

  it('is nothing to tell of from seven days on', async () => {
    expect(await problemsWith(connection, 7 * 24)).toEqual([]);
  });
});
