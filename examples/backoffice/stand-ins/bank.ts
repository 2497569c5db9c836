/** The stand-in for a bank as a process of its own. */
import { openBank } from './open-bank';

void openBank(Number(process.env['PORT'] ?? 4001)).then(({ url }) => console.log(`bank  ${url}`));
