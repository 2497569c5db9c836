import { openBank } from './open-bank';

void openBank(Number(process.env['PORT'] ?? 4001)).then(({ url }) => console.log(`bank  ${url}`));
