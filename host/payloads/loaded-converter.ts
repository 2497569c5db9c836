import { createRequire } from 'node:module';
import { defaultFailureConverter, defaultPayloadConverter, type DataConverter, type LoadedDataConverter } from '@temporalio/common';
import { HoldfastError } from '../../contract/errors';

const load = createRequire(__filename);

export function loadedConverter(dataConverter: DataConverter = {}): LoadedDataConverter {
  const { payloadConverterPath, failureConverterPath, payloadCodecs = [], externalStorage } = dataConverter;
  return {
    payloadConverter: exported('payloadConverter', payloadConverterPath, defaultPayloadConverter),
    failureConverter: exported('failureConverter', failureConverterPath, defaultFailureConverter),
    payloadCodecs,
    externalStorage,
  };
}

function exported<Converter>(name: string, path: string | undefined, usual: Converter): Converter {
  if (path === undefined) return usual;
  const { [name]: converter } = load(path) as Readonly<Record<string, Converter | undefined>>;
  if (converter === undefined) throw new HoldfastError('config-invalid', `The module ${path} does not export ${name}.`);
  return converter;
}
