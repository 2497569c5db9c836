import { unknownVariables } from '../../../cli/processes/unknown-variables';

describe('a variable that Holdfast does not read', () => {
  it.each([
    ['HOLDFAST_PROT', 'HOLDFAST_PROT has no effect: Holdfast reads HOLDFAST_PORT.'],
    ['HOLDFAST_COLOUR_OF_LOGS', 'HOLDFAST_COLOUR_OF_LOGS has no effect: Holdfast has no such variable.'],
    ['OPENAI_APIKEY', 'OPENAI_APIKEY has no effect: Holdfast reads OPENAI_API_KEY.'],
    ['ANTROPIC_API_KEY', 'ANTROPIC_API_KEY has no effect: Holdfast reads ANTHROPIC_API_KEY.'],
    ['OPENAI_API_KYE', 'OPENAI_API_KYE has no effect: Holdfast reads OPENAI_API_KEY.'],
    ['OPENAI_API_KEYS', 'OPENAI_API_KEYS has no effect: Holdfast reads OPENAI_API_KEY.'],
    ['TEMPORAL_ADRESS', 'TEMPORAL_ADRESS has no effect: Holdfast reads TEMPORAL_ADDRESS.'],
    ['openai_api_key', 'openai_api_key has no effect: Holdfast reads OPENAI_API_KEY.'],
  ])('is told with the right name, and without its value: %s', (name, told) => {
    expect(unknownVariables({ [name]: 'sk-secret' })).toEqual([told]);
  });

  it.each([
    [{ HOLDFAST_PORT: '1', OPENAI_API_KEY: 'k', TEMPORAL_TLS_SERVER_NAME: 'x', HOLDFAST_COMMAND: 'x' }],
    [{ HOLDFAST_PROT: '', OPENAI_APIKEY: undefined }],
    [{ OPENAI_APIKEY: 'k', OPENAI_API_KEY: 'k' }],
    [{ GENAI_API_KEY: 'k', XAI_API_KEY: 'k', OPENAI_ORG_ID: 'x', OPENAI_API_KEY_2: 'k', OPENAI_API_KEY2: 'k', XDG_DATA_HOME: 'x' }],
    [{ TEMPORAL_GRPC_META_X: 'y', TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: 'false', PATH: '/bin', PORT: '1', HOME: '/' }],
  ])('is not told of others: %j', (environment) => {
    expect(unknownVariables(environment)).toEqual([]);
  });
});
