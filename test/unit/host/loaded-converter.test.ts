import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultFailureConverter, defaultPayloadConverter } from '@temporalio/common';
import { loadedConverter } from '../../../host/payloads/loaded-converter';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-converter-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('a data converter is loaded from the modules that it names, and is the usual one without', () => {
  const path = join(folder, 'own.js');
  writeFileSync(path, 'exports.payloadConverter = { name: "own" };');
  expect(loadedConverter()).toEqual({
    payloadConverter: defaultPayloadConverter,
    failureConverter: defaultFailureConverter,
    payloadCodecs: [],
    externalStorage: undefined,
  });
  expect(loadedConverter({ payloadConverterPath: path })).toMatchObject({
    payloadConverter: { name: 'own' },
    failureConverter: defaultFailureConverter,
  });
  expect(() => loadedConverter({ failureConverterPath: path })).toThrow(`The module ${path} does not export failureConverter.`);
});
