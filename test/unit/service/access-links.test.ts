import type { Link } from '../../../service/access/links';
import { Links } from '../../../service/access/links';
import { gate } from '../../support/gate';
import { memoryAccessStore } from '../../support/access-store';

it('x', () => undefined);
