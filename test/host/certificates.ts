import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Certificates {
  readonly authority: string;
  readonly server: { readonly cert: string; readonly key: string };
  readonly client: { readonly cert: string; readonly key: string };
}

export function makeCertificates(directory: string): Certificates {
  const at = (name: string) => join(directory, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...newKey, '-days', '2', '-subj', '/CN=Holdfast Test', '-keyout', at('ca.key'), '-out', at('ca.pem'));
  const issue = (name: string, subject: string) => {
    writeFileSync(at(`${name}.ext`), `subjectAltName=DNS:${subject}\n`);
    openssl('req', ...newKey, '-subj', `/CN=${subject}`, '-keyout', at(`${name}.key`), '-out', at(`${name}.csr`));
    openssl(
      'x509',
      '-req',
      '-days',
      '2',
      '-in',
      at(`${name}.csr`),
      '-CA',
      at('ca.pem'),
      '-CAkey',
      at('ca.key'),
      '-CAcreateserial',
      '-extfile',
      at(`${name}.ext`),
      '-out',
      at(`${name}.pem`),
    );
    return { cert: at(`${name}.pem`), key: at(`${name}.key`) };
  };
  return { authority: at('ca.pem'), server: issue('server', 'temporal.test'), client: issue('client', 'worker') };
}
