import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../../../client/connect';
import { HoldfastError } from '../../../contract/errors';

// The network's message does not matter, and takes time.
jest.mock('../../../host/connection', () => ({
  ...jest.requireActual<object>('../../../host/connection'),
  connectTemporal: ({ address }: { readonly address: string }) =>
    Promise.reject(new HoldfastError('server-unreachable', `No Temporal server answers at ${address}: refused.`)),
}));

const before = { ...process.env };
const directory = join(mkdtempSync(join(tmpdir(), 'holdfast-nowhere-')), '.holdfast');
beforeEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith('TEMPORAL_')) delete process.env[name];
  process.env['HOLDFAST_DIR'] = directory;
});
afterAll(() => {
  process.env = before;
});

describe('a client for which no server is there', () => {
  it('hears that none runs on the directory, and how to start or to name one', async () => {
    const error = (await connect().catch((thrown: unknown) => thrown)) as HoldfastError;
    expect(error).toMatchObject({ code: 'server-unreachable' });
    expect(error.message).toContain(`No server runs on ${directory}`);
    expect(error.message).toContain('`npx holdfast dev`');
    expect(error.message).toContain('TEMPORAL_ADDRESS');
  });

  it('hears of the server that it has named, and of no other', async () => {
    const named = { code: 'server-unreachable', message: 'No Temporal server answers at far:7233: refused.' };
    await expect(connect({ address: 'far:7233' })).rejects.toMatchObject(named);
    process.env['TEMPORAL_ADDRESS'] = 'far:7233';
    await expect(connect()).rejects.toMatchObject(named);
  });
});
